import { Batch, publish } from '../frames.js';
import { MarkedPublisher } from '../marks.js';
import { rateOfAll, type Result, until } from '../measure.js';
import { bodyOf, Scene } from '../scene.js';
import { memoryOf, residentOf, type Target } from '../target.js';

/** Messages of 16 bytes fill a queue and leave it. Also measured: the memory of a waiting message. */
export async function w8(target: Target, messages = 1_000_000): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const consumer = await scene.client();
  await scene.queue('w8');
  const used = await memoryOf(target);
  const resident = residentOf(target.pid);
  const marked = new MarkedPublisher(publisher, Batch.of(publish('', 'w8', bodyOf(16)), 1_000), 'w8');
  const filling = await rateOfAll(target, () => marked.run((published) => published < messages));
  const waiting = await memoryOf(target);
  const extra: Record<string, number> = {
    'in/s': filling.value,
    'RSS bytes each': (residentOf(target.pid) - resident) / messages,
    ...(used !== undefined && waiting !== undefined && { 'bytes each': (waiting - used) / messages }),
  };
  const marks = [0];
  let acked = 0;
  consumer.onDelivered = (_, to) => {
    acked = to;
    consumer.ack(to);
    while (acked >= (messages / 10) * marks.length) marks.push(performance.now());
  };
  marks[0] = performance.now();
  const draining = await rateOfAll(target, async () => {
    await consumer.consume('w8');
    await until(() => acked >= messages);
    return messages;
  });
  await scene.close();
  const tenth = (index: number): number => (marks[index + 1] as number) - (marks[index] as number);
  const both = (one: number | undefined, other: number | undefined): number => (one ?? 0) + (other ?? 0);
  return {
    // Each message counts twice: in and out.
    value: 2 / (1 / filling.value + 1 / draining.value),
    serverCpu: both(filling.serverCpu, draining.serverCpu),
    clientCpu: both(filling.clientCpu, draining.clientCpu),
    extra: { ...extra, 'out/s': draining.value, 'last tenth / first': tenth(0) / tenth(9) },
  };
}
