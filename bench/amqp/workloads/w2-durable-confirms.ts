import { type Arguments, Batch, publish } from '../frames.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';

/** Bytes of a body. */
export const w2Size = 1024;

/**
 * Persistent messages to a durable queue, with a window of unconfirmed ones. There is no consumer: some brokers do not write a
 * message to the disk that was acked before.
 */
export async function w2(target: Target, pace: Pace, outstanding: number, args: Arguments = {}): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  await scene.queue('w2', args, 'durable');
  await publisher.confirmSelect();
  const batch = Batch.of(publish('', 'w2', bodyOf(w2Size), true));
  const pump = new Pump(publisher, batch, () => publisher.confirmed, outstanding);
  publisher.onConfirmed = pump.run;
  pump.run();
  const result = await rateOf(target, pace, () => publisher.confirmed);
  await pump.drain();
  await scene.close();
  return result;
}
