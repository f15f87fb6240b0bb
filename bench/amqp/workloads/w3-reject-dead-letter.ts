import { Batch, publish } from '../frames.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';
import type { Publishing } from './w1-publish-deliver-ack.js';

/** Each message is rejected, dead-lettered, and consumed from the dead-letter queue. */
export async function w3(target: Target, pace: Pace, { size, confirm }: Publishing): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const rejecting = await scene.client();
  const consumer = await scene.client();
  await scene.queue('w3-dead');
  await scene.queue('w3', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'w3-dead' });
  if (confirm) await publisher.confirmSelect();
  let acked = 0;
  const done = (): number => (confirm ? Math.min(acked, publisher.confirmed) : acked);
  const pump = new Pump(publisher, Batch.of(publish('', 'w3', bodyOf(size))), done);
  publisher.onConfirmed = pump.run;
  rejecting.onDelivered = (from, to) => rejecting.reject(from, to);
  consumer.onDelivered = (_, to) => {
    acked = to;
    consumer.ack(to);
    pump.run();
  };
  await rejecting.consume('w3');
  await consumer.consume('w3-dead');
  pump.run();
  const result = await rateOf(target, pace, done);
  await pump.drain();
  await scene.close();
  return result;
}
