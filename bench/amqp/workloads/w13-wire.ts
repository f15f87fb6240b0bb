import { Batch, publish } from '../frames.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';

/** Publishes in one write, as many as fill a read of the server. */
const inOneWrite = 1_000;

/** One client publishes 16 bytes without confirms, the other consumes without acks: the lowest cost of a message. */
export async function w13(target: Target, pace: Pace): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const consumer = await scene.client();
  await scene.queue('w13');
  let arrived = 0;
  const pump = new Pump(publisher, Batch.of(publish('', 'w13', bodyOf(16)), inOneWrite), () => arrived);
  consumer.onDelivered = (_, to) => {
    arrived = to;
    pump.run();
  };
  await consumer.consume('w13', 0);
  pump.run();
  const result = await rateOf(target, pace, () => arrived);
  await pump.drain();
  await scene.close();
  return result;
}
