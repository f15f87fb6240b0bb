import { Batch, publish } from '../frames.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';

const keys = Array.from({ length: 1_000 }, (_, index) => `orders.region${index % 97}.${index}.created`);

/** A topic exchange with many bindings, of which one matches. Messages are delivered and acked. */
export async function w6(target: Target, pace: Pace, bindings = 10_000): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const consumer = await scene.client();
  await publisher.declareExchange('w6', 'topic');
  await scene.queue('w6');
  const others = Array.from({ length: bindings - 1 }, (_, index) => `shipments.*.${index}.#`);
  await Promise.all(['orders.*.#', ...others].map((pattern) => publisher.bindQueue('w6', 'w6', pattern)));
  let acked = 0;
  const batch = new Batch(keys.map((key) => publish('w6', key, bodyOf(1024))));
  const pump = new Pump(publisher, batch, () => acked);
  consumer.onDelivered = (_, to) => {
    acked = to;
    consumer.ack(to);
    pump.run();
  };
  await consumer.consume('w6');
  pump.run();
  const result = await rateOf(target, pace, () => acked);
  await pump.drain();
  await scene.close();
  return result;
}
