import { Batch, publish } from '../frames.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';

const queues = 100;

/** Deliveries a second when each message goes to 100 queues, which one channel consumes and acks. */
export async function w7(target: Target, pace: Pace): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const consumer = await scene.client();
  await publisher.declareExchange('w7', 'fanout');
  for (let index = 0; index < queues; index++) {
    await scene.queue(`w7-${index}`);
    await publisher.bindQueue(`w7-${index}`, 'w7', '');
    await consumer.consume(`w7-${index}`);
  }
  let acked = 0;
  const pump = new Pump(publisher, Batch.of(publish('w7', '', bodyOf(1024))), () => Math.floor(acked / queues), 200);
  consumer.onDelivered = (_, to) => {
    acked = to;
    consumer.ack(to);
    pump.run();
  };
  pump.run();
  const result = await rateOf(target, pace, () => acked);
  await pump.drain();
  await scene.close();
  return result;
}
