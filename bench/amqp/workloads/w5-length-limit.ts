import { Batch, publish } from '../frames.js';
import { MarkedPublisher } from '../marks.js';
import { type Pace, rateOf, type Result } from '../measure.js';
import { bodyOf, Pump, Scene } from '../scene.js';
import type { Target } from '../target.js';
import type { Publishing } from './w1-publish-deliver-ack.js';

/** A queue of 1,000 messages that dead-letters its head into another queue of 1,000. There is no consumer. */
export async function w5(target: Target, pace: Pace, { size, confirm }: Publishing): Promise<Result> {
  const scene = new Scene(target);
  const publisher = await scene.client();
  await scene.queue('w5-dead', { 'x-max-length': 1_000 });
  const toDead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'w5-dead' };
  await scene.queue('w5', { 'x-max-length': 1_000, ...toDead });
  const batch = Batch.of(publish('', 'w5', bodyOf(size)));
  let result: Result;
  if (confirm) {
    await publisher.confirmSelect();
    const pump = new Pump(publisher, batch, () => publisher.confirmed);
    publisher.onConfirmed = pump.run;
    pump.run();
    result = await rateOf(target, pace, () => publisher.confirmed);
    await pump.drain();
  } else {
    const marked = new MarkedPublisher(publisher, batch, 'w5');
    let isStopped = false;
    const running = marked.run(() => !isStopped);
    result = await rateOf(target, pace, () => marked.routed);
    isStopped = true;
    await running;
  }
  await scene.close();
  return result;
}
