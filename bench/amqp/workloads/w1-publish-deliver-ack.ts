import { Batch, publish } from '../frames.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';

export interface Publishing {
  /** Bytes of a body. */
  readonly size: number;
  readonly confirm: boolean;
}

/** One client publishes. The other consumes with a prefetch of 250, and sends one ack for all messages of a read. */
export async function w1(target: Target, pace: Pace, { size, confirm }: Publishing): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  const consumer = await scene.client();
  await scene.queue('w1');
  if (confirm) await publisher.confirmSelect();
  let acked = 0;
  const done = (): number => (confirm ? Math.min(acked, publisher.confirmed) : acked);
  const pump = new Pump(publisher, Batch.of(publish('', 'w1', bodyOf(size))), done);
  publisher.onConfirmed = pump.run;
  consumer.onDelivered = (_, to) => {
    acked = to;
    consumer.ack(to);
    pump.run();
  };
  await consumer.consume('w1');
  pump.run();
  const result = await rateOf(target, pace, done);
  await pump.drain();
  await scene.close();
  return result;
}
