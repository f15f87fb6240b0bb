import { die } from '../../../../../test/harnesses/die.js';
import { describe, expect, it } from 'vitest';
import {
  array,
  bool,
  type Field,
  int32,
  int64,
  longstr,
  Message,
  type Properties,
  table,
  timestamp,
} from '../../engine/message/index.js';
import { planRetry } from './policy.js';

import { ManualClock } from '../testing/manual-clock.js';
import type { Backend, BackendDelivery, Done, Publication } from '../../backends/backend.js';
import { park, redrive, retryIn, retryOrPark, type RetryOutcome, UnknownOriginError } from './republish.js';
import { WaitQueues } from './wait-queues.js';
import { addressOf, attemptOf, originOf, redrivesOf, workQueueOf } from '../../platform/history/index.js';

const now = 1_700_000_000_000;
const body = new TextEncoder().encode('{"id":1}');
const plan = planRetry(
  { attempts: 3, backoff: { type: 'exponential', delay: '1s' } },
  { queue: 'orders', origin: 'here' },
);
const failure = { error: new Error('no'), headers: new Map([['dlx-error-class', longstr('Error')]]) };

/** Where everything that could be needed stands already. */
const waitQueues = (now = 1_700_000_000_000): WaitQueues => {
  const all = new WaitQueues({ clock: new ManualClock(now), declare: async () => undefined } as unknown as Backend);
  all.declared([1_000, 2_000], ['orders.parked', 'lot']);
  return all;
};

/** A delivery that notes what takes its place, and answers with a failure if it is given one. */
const deliver = (message: Message, queue = 'orders', refusal?: Error) => {
  const successors: Publication[] = [];
  const unexpected = () => expect.unreachable('only replaceBy keeps the message safe');
  const delivery: BackendDelivery = {
    message,
    queue,
    redelivered: false,
    settled: false,
    ack: unexpected,
    reject: unexpected,
    requeue: unexpected,
    giveBack: unexpected,
    replaceBy(publication: Publication, done?: Done) {
      this.commit([publication], done);
    },
    commit(publications: readonly Publication[], done?: Done) {
      successors.push(...publications);
      done?.(refusal);
    },
  };
  return { delivery, successors };
};

/** Retries or parks a delivery. @returns what became of it */
const retried = (delivery: BackendDelivery, by = plan, at = now): RetryOutcome | undefined => {
  let outcome: RetryOutcome | undefined;
  retryOrPark(delivery, by, failure, waitQueues(at), (ended) => void (outcome = ended));
  return outcome;
};

const order = (properties: Properties = {}) => new Message('shop', 'order.created', properties, body);

/** What the consumer of `queue` gets once a publication arrived there by the default exchange. */
const arrived = (publication: Publication, queue = 'orders') =>
  new Message('', queue, publication.properties, publication.body);

const died = (message: Message, queue: string, reason: 'rejected' | 'expired') => {
  const { exchange, routingKey } = message;
  const letter = die(message, {
    queue,
    reason,
    exchange,
    routingKeys: [routingKey],
    count: 1,
    time: 1_700_000_000_000,
  });
  // As a consumer of another broker gets it.
  return new Message('dlx', routingKey, letter.properties, message.body);
};

describe('a failed delivery', () => {
  it('waits longer after each attempt and is parked after the last', () => {
    let message = order();
    const path = [];
    for (const _ of [1, 2, 3]) {
      const { delivery, successors } = deliver(message);
      const outcome = retried(delivery);
      path.push([outcome?.kind, outcome?.attempt, successors[0]!.exchange, successors[0]!.routingKey]);
      // rule B6: it comes out of the wait queue with a death of its own
      message = died(arrived(successors[0]!), 'wait.1000', 'expired');
    }
    expect(path).toEqual([
      ['retried', 1, 'wait.1000', 'orders'],
      ['retried', 2, 'wait.2000', 'orders'],
      ['parked', 3, '', 'orders.parked'],
    ]);
  });

  it('is counted by its rejections too, when its queue retries by dead-lettering (rule E1)', () => {
    const twice = died(died(order(), 'orders', 'rejected'), 'orders', 'rejected');
    expect(attemptOf(twice, 'orders')).toBe(3);
    expect(attemptOf(twice, 'invoices')).toBe(1);
    expect(retried(deliver(twice).delivery)).toMatchObject({
      kind: 'parked',
      attempt: 3,
    });
  });

  it('is republished persistent, mandatory, without its own time to live, x-death, CC and user id', () => {
    const headers = new Map<string, Field>([
      ['tenant', longstr('a')],
      ['CC', array([longstr('copy')])],
    ]); // rule G2
    const properties: Properties = { headers, expiration: '10', userId: 'shop', deliveryMode: 1, messageId: 'm1' };
    const { delivery, successors } = deliver(died(order(properties), 'orders', 'rejected'));
    retryOrPark(delivery, plan, failure, waitQueues());
    const [publication] = successors;
    expect(publication).toMatchObject({ mandatory: true, body, properties: { deliveryMode: 2, messageId: 'm1' } });
    expect(publication!.properties).toMatchObject({ expiration: undefined, userId: undefined });
    expect(Object.fromEntries(publication!.properties.headers!)).toEqual({
      tenant: longstr('a'),
      'dlx-error-class': longstr('Error'),
      'dlx-attempt': int32(3),
      'dlx-queue': longstr('orders'),
      'dlx-first-exchange': longstr('shop'),
      'dlx-first-routing-key': longstr('order.created'),
      'dlx-failing-since': int64(1_700_000_000_000),
      'dlx-deaths': array([
        table(
          new Map<string, Field>([
            ['count', int64(2)],
            ['reason', longstr('rejected')],
            ['queue', longstr('orders')],
            ['time', timestamp(1_700_000_000)],
            ['exchange', longstr('shop')],
            ['routing-keys', array([longstr('order.created')])],
            ['original-expiration', longstr('10')],
          ]),
        ),
      ]),
    });
  });

  it('is parked when the next attempt would begin after the deadline, or its error is hopeless', () => {
    const strict = planRetry({ attempts: 9, backoff: '1s', deadline: '5s' }, { queue: 'orders', origin: 'here' });
    const first = deliver(order());
    retryOrPark(first.delivery, strict, failure, waitQueues(10_000));
    const second = arrived(first.successors[0]!);
    expect(retried(deliver(second).delivery, strict, 14_000)).toMatchObject({
      kind: 'retried',
    });
    const late = { kind: 'parked', attempt: 2, why: 'deadline' };
    expect(retried(deliver(second).delivery, strict, 14_001)).toMatchObject(late);
    const never = planRetry({ attempts: 9, neverRetry: Error }, { queue: 'orders', origin: 'here' });
    const notRetryable = { kind: 'parked', attempt: 1, why: 'error' };
    expect(retried(deliver(order()).delivery, never)).toMatchObject(notRetryable);
  });

  it('goes straight behind what waits when it is to be retried at once', () => {
    const eager = planRetry({ attempts: 2, immediate: 1 }, { queue: 'orders', origin: 'here' });
    const { delivery, successors } = deliver(order());
    expect(retried(delivery, eager)).toEqual({ kind: 'retried', delay: 0, attempt: 1 });
    expect(successors[0]).toMatchObject({ exchange: '', routingKey: 'orders', mandatory: true });
  });

  it('is rejected into its wait queue, but republished when its headers cannot be decoded', () => {
    const same = planRetry({ attempts: 3, backoff: '1s' }, { queue: 'orders', origin: 'here' });
    const rejecting = { ...failure, byReject: true };
    const { delivery, successors } = deliver(order());
    const rejected: unknown[] = [];
    delivery.reject = (headers) => void rejected.push(headers);
    retryOrPark(delivery, same, rejecting, waitQueues());
    expect([rejected, successors]).toEqual([[failure.headers], []]);
    retryOrPark({ ...delivery, isUndecodable: true }, same, rejecting, waitQueues());
    expect(rejected).toHaveLength(1);
    expect(successors).toMatchObject([{ exchange: 'wait.1000', routingKey: 'orders' }]);
  });

  it('has its wait queue declared again after its successor was refused', () => {
    const queues = waitQueues();
    const refused = deliver(order(), 'orders', new Error('there is no such exchange')).delivery;
    expect(queues.wait(1_000)).toBeUndefined();
    retryOrPark(refused, plan, failure, queues);
    expect(queues.wait(1_000)).toBeInstanceOf(Promise);
    expect(queues.wait(2_000)).toBeUndefined();
  });

  it('hands on the failure when its successor is refused, and settles nothing', () => {
    const failures: unknown[] = [];
    const refusal = new Error('unroutable');
    const { delivery } = deliver(order(), 'orders', refusal);
    retryOrPark(delivery, plan, failure, waitQueues(), (_, failed) => failures.push(failed));
    park(delivery, 'lot', waitQueues(), {}, (failed) => failures.push(failed));
    redrive(delivery, now, 'orders', (failed) => failures.push(failed));
    expect(failures).toEqual([refusal, refusal, refusal]); // ack, reject and requeue are unreachable in this delivery
  });
});

describe('the attempt of a message', () => {
  const attempt = (...headers: [string, Field][]) => attemptOf(order({ headers: new Map(headers) }), 'orders');
  const mine: [string, Field] = ['dlx-queue', longstr('orders')];

  it('is 1 for a fresh one, and for one whose count belongs to another queue', () => {
    expect(attemptOf(order(), 'orders')).toBe(1);
    expect(attempt(['dlx-attempt', int32(3)])).toBe(1);
    expect(attempt(['dlx-attempt', int32(3)], ['dlx-queue', longstr('invoices')])).toBe(1);
    expect(attempt(['dlx-attempt', int32(3)], mine)).toBe(3);
  });

  it('does not believe nonsense', () => {
    for (const value of [0, -4, 1.5, Number.NaN]) expect(attempt(['dlx-attempt', { type: 'd', value }], mine)).toBe(1);
    expect(attempt(['dlx-attempt', longstr('9')], mine)).toBe(1);
    expect(attempt(['dlx-attempt', { type: 'd', value: 1e300 }], mine)).toBeLessThan(2 ** 31);
  });

  it('goes on counting when a dead letter or a parked message is retried from where it lies', () => {
    const attemptAfter = (message: Message, from: string) => {
      const { delivery, successors } = deliver(message, from);
      retryIn(delivery, 1_000, waitQueues(), { queue: 'orders' });
      return attemptOf(arrived(successors[0]!), 'orders');
    };
    expect(attemptAfter(died(order(), 'orders', 'expired'), 'orders.dead')).toBe(1); // no handler has had it yet
    expect(attemptAfter(died(order(), 'orders', 'rejected'), 'orders.dead')).toBe(2);
    const { delivery, successors } = deliver(died(order(), 'orders', 'rejected'));
    park(delivery, 'orders.parked', waitQueues());
    expect(successors[0]!.properties.headers!.get('dlx-attempt')).toEqual(int32(2));
    expect(successors[0]!.properties.headers!.get('dlx-parked')).toEqual(bool(true));
    expect(attemptAfter(arrived(successors[0]!, 'orders.parked'), 'orders.parked')).toBe(3);
  });
});

describe('a redriven message', () => {
  it('goes to where it was published at first, as new but for the number of redrives (rule H8)', () => {
    const dead = died(died(died(order(), 'orders', 'rejected'), 'second', 'expired'), 'orders', 'rejected');
    const { delivery, successors } = deliver(dead, 'orders.dead');
    redrive(delivery, now);
    expect(successors[0]).toMatchObject({ exchange: 'shop', routingKey: 'order.created', mandatory: true });
    expect([...successors[0]!.properties.headers!]).toEqual([['dlx-redrives', int32(1)]]);
    const again = deliver(died(arrived(successors[0]!), 'orders', 'rejected'), 'orders.dead');
    redrive(again.delivery, now, { exchange: 'repair', routingKey: 'k' });
    expect(again.successors[0]).toMatchObject({ exchange: 'repair', routingKey: 'k' });
    expect(redrivesOf(arrived(again.successors[0]!))).toBe(2);
  });

  it('knows its origin after retries and parking, though its deaths were taken away', () => {
    let message = order();
    for (const _ of [1, 2, 3]) {
      const { delivery, successors } = deliver(message);
      retryOrPark(delivery, plan, failure, waitQueues());
      message = died(arrived(successors[0]!), 'wait.1000', 'expired');
    }
    expect(originOf(message)).toEqual({ exchange: 'shop', routingKey: 'order.created' });
    expect(workQueueOf(message)).toBe('orders');
    const { delivery, successors } = deliver(message, 'orders.parked');
    redrive(delivery, now);
    expect(successors[0]).toMatchObject({ exchange: 'shop', routingKey: 'order.created' });
    expect([...successors[0]!.properties.headers!.keys()]).toEqual(['dlx-redrives']);
  });

  it('without any trace of an origin needs a target', () => {
    const { delivery, successors } = deliver(order(), 'orders.dead');
    let failed: unknown;
    redrive(delivery, now, undefined, (reason) => (failed = reason));
    expect(failed).toBeInstanceOf(UnknownOriginError);
    expect(successors).toEqual([]);
    expect(addressOf(order())).toMatchObject({ exchange: 'shop', routingKey: 'order.created' });
  });
});
