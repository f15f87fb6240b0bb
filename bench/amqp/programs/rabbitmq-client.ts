import { Connection, ConsumerStatus } from 'rabbitmq-client';
import { type Pace, rateOf, type Result, until } from '../measure.js';
import { bodyOf, window } from '../scene.js';
import { type Target, urlOf } from '../target.js';
import type { Publishing } from '../workloads/w1-publish-deliver-ack.js';

/** W1, or with `rejects` W3, by a program with rabbitmq-client. */
export async function withRabbitmqClient(
  target: Target,
  pace: Pace,
  how: Publishing,
  rejects: boolean,
): Promise<Result> {
  const { size, confirm } = how;
  const outward = new Connection(urlOf(target));
  const inward = new Connection(urlOf(target));
  const last = rejects ? 'dead' : 'work';
  await outward.queueDeclare({ queue: 'dead' });
  const toDead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };
  await outward.queueDeclare({ queue: 'work', ...(rejects && { arguments: toDead }) });
  const publisher = outward.createPublisher({ confirm });
  const body = bodyOf(size);
  let published = 0;
  let sent = 0;
  let acked = 0;
  let isStopped = false;
  const countSent = (): void => {
    sent++;
    fill();
  };
  const done = (): number => Math.min(acked, sent);
  const fill = (): void => {
    if (isStopped || (window - (published - done())) * 8 < window) return;
    for (; published - done() < window; published++) void publisher.send('work', body).then(countSent);
  };
  const options = { queueOptions: { passive: true }, qos: { prefetchCount: 250 }, concurrency: 250 };
  const rejecting = rejects
    ? inward.createConsumer({ queue: 'work', ...options }, () => ConsumerStatus.DROP)
    : undefined;
  const consumer = inward.createConsumer({ queue: last, ...options }, () => {
    acked++;
    fill();
  });
  fill();
  const result = await rateOf(target, pace, done);
  isStopped = true;
  await until(() => done() >= published);
  await rejecting?.close();
  await consumer.close();
  await publisher.close();
  for (const queue of ['work', 'dead']) await outward.queueDelete({ queue });
  await outward.close();
  await inward.close();
  return result;
}
