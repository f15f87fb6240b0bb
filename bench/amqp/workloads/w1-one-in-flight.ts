import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../workload.js';
import { publish } from '../frames.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Scene } from '../scene.js';
import type { Target } from '../target.js';

/** Milliseconds from the write of a publish to its delivery on another connection, one message at a time. */
export async function w1OneInFlight(target: Target, pace: Pace): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const consumer = await scene.client();
  await scene.queue('w1-one');
  const message = publish('', 'w1-one', bodyOf(1024));
  let times: number[] = [];
  let sent = 0;
  let count = 0;
  let isStopped = false;
  const send = (): void => {
    sent = performance.now();
    publisher.write(message);
  };
  consumer.onDelivered = (_, to) => {
    times.push(performance.now() - sent);
    count = to;
    consumer.ack(to);
    if (!isStopped) send();
  };
  await consumer.consume('w1-one');
  send();
  await sleep(pace.warm * 1000);
  times = [];
  const { serverCpu, clientCpu } = await rateOf(target, { ...pace, warm: 0 }, () => count);
  const sorted = times.toSorted((one, other) => one - other);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] as number;
  isStopped = true;
  await sleep(50);
  await scene.close();
  return {
    value: median(times),
    extra: { 'p99 ms': p99 },
    ...(serverCpu && { serverCpu }),
    ...(clientCpu && { clientCpu }),
  };
}
