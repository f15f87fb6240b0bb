import { Batch, publish } from '../frames.js';
import { rateOfAll, type Result, until } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';

const messages = 5_000;
const waits = [200, 400] as const;

/**
 * Messages that fail twice. Each failure is a reject into a wait queue, which dead-letters into the queue of the next attempt. The
 * result is the time of the last success, in milliseconds after the ideal time.
 */
export async function w10(target: Target): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const to = (queue: string): Record<string, string> => ({
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': queue,
  });
  for (const [index, wait] of waits.entries()) {
    await scene.queue(`w10-try-${index}`, to(`w10-wait-${index}`));
    await scene.queue(`w10-wait-${index}`, { 'x-message-ttl': wait, ...to(`w10-try-${index + 1}`) });
    const failing = await scene.client();
    failing.onDelivered = (from, last) => failing.reject(from, last);
    await failing.consume(`w10-try-${index}`);
  }
  await scene.queue(`w10-try-${waits.length}`);
  const succeeding = await scene.client();
  let succeeded = 0;
  let last = 0;
  succeeding.onDelivered = (_, tag) => {
    succeeding.ack(tag);
    succeeded = tag;
    last = performance.now();
  };
  await succeeding.consume(`w10-try-${waits.length}`);
  const batch = Batch.of(publish('', 'w10-try-0', bodyOf(1024)));
  const times: number[] = [];
  const round = async (): Promise<number> => {
    const before = succeeded;
    const start = performance.now();
    new Pump(publisher, batch, () => 0, messages).run();
    await until(() => succeeded - before >= messages);
    times.push(last - start - waits.reduce((sum, wait) => sum + wait, 0));
    return messages;
  };
  await round(); // warms up
  const { serverCpu, clientCpu } = await rateOfAll(target, round);
  await scene.close();
  return { value: times[1] as number, ...(serverCpu && { serverCpu }), ...(clientCpu && { clientCpu }) };
}
