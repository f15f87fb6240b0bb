import amqplib from 'amqplib';
import { type Pace, rateOf, type Result, until } from '../measure.js';
import { bodyOf, window } from '../scene.js';
import { type Target, urlOf } from '../target.js';
import type { Publishing } from '../workloads/w1-publish-deliver-ack.js';

/** W1, or with `rejects` W3, by a program with amqplib, which acks or rejects each message. */
export async function withAmqplib(target: Target, pace: Pace, how: Publishing, rejects: boolean): Promise<Result> {
  const { size, confirm } = how;
  const outward = await amqplib.connect(urlOf(target), { noDelay: true });
  const inward = await amqplib.connect(urlOf(target), { noDelay: true });
  const publisher = confirm ? await outward.createConfirmChannel() : await outward.createChannel();
  const consumer = await inward.createChannel();
  const last = rejects ? 'dead' : 'work';
  await publisher.assertQueue('dead', { durable: false });
  await publisher.assertQueue('work', {
    durable: false,
    ...(rejects && { deadLetterExchange: '', deadLetterRoutingKey: 'dead' }),
  });
  const body = bodyOf(size);
  let published = 0;
  let confirmed = 0;
  let acked = 0;
  let isStopped = false;
  const countConfirm = (): void => void confirmed++;
  const done = (): number => (confirm ? Math.min(acked, confirmed) : acked);
  const fill = (): void => {
    if (isStopped || (window - (published - done())) * 8 < window) return;
    for (; published - done() < window; published++) {
      if (confirm) (publisher as amqplib.ConfirmChannel).publish('', 'work', body, {}, countConfirm);
      else publisher.publish('', 'work', body);
    }
  };
  await consumer.prefetch(250);
  if (rejects) await consumer.consume('work', (message) => message && consumer.reject(message, false));
  await consumer.consume(last, (message) => {
    if (message === null) return;
    consumer.ack(message);
    acked++;
    fill();
  });
  fill();
  // A window of confirms may end when all have been consumed already.
  const timer = setInterval(fill, 1);
  const result = await rateOf(target, pace, done);
  clearInterval(timer);
  isStopped = true;
  await until(() => done() >= published);
  for (const queue of ['work', 'dead']) await publisher.deleteQueue(queue);
  await outward.close();
  await inward.close();
  return result;
}
