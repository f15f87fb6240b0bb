import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Broker, type Channel, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import type { StoreError } from '../../libs/dlx-broker/src/store/log/faults.js';
import { amount } from '../amounts.js';
import { atLeastOnceTo } from './at-least-once.js';
import { bodyOf, messageIdOf } from './bodies.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { type Call, FaultyDisk } from './faulty-disk.js';
import { lent } from './harness.js';

const size = 700;

/** What clients know of their messages. */
interface Account {
  readonly confirmed: Set<string>;
  /** Acked by a consumer: may be gone, may come again. */
  readonly acked: Set<string>;
  readonly answers: Map<number, boolean>;
  published: number;
}

async function open(disk: FaultyDisk, clock: ManualClock) {
  const told: StoreError[] = [];
  const failed: StoreError[] = [];
  const journal = await DiskJournal.open(disk, {
    memory: 0,
    diskFree: 0,
    segment: 8_192,
    slack: 0,
    factor: 1.2,
    checkInterval: 1,
    now: () => clock.now(),
    damaged: (error) => void told.push(error),
    failed: (error) => void failed.push(error),
  });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  return { journal, broker, told, failed };
}

const args = (...fields: (readonly [string, Field])[]) => new Map(fields);

/** All kinds of queues, and all that can happen to a message. */
async function work(broker: Broker, clock: ManualClock, account: Account): Promise<void> {
  const outstanding = new Map<number, string>();
  const publisher = broker.connect().openChannel({
    ...silentOutbox,
    confirmed: (tag, multiple, ok) => {
      for (const [each, id] of outstanding) {
        if (each !== tag && !(multiple && each < tag)) continue;
        outstanding.delete(each);
        account.answers.set(each, ok);
        if (ok) account.confirmed.add(id);
      }
    },
  });
  publisher.confirmSelect();
  const publish = (exchange: string, key: string, properties: object = {}): void => {
    const messageId = messageIdOf(++account.published, size);
    outstanding.set(account.published, messageId); // its tag: a refusal comes before the publish is over
    publisher.publish(exchange, key, { messageId, deliveryMode: 2, ...properties }, bodyOf(messageId));
  };
  const wait = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) await setImmediate();
  };
  const toDead = [
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr('dead')],
  ] as const;
  const declared: [string, Map<string, Field>][] = [
    ['dead', args()],
    ['work', args(...toDead)],
    ['hurried', args(...toDead, ['x-message-ttl', int32(50)])],
    ['short', args(...toDead, ['x-max-length', int32(2)])],
    ['ranked', args(...toDead, ['x-max-priority', int32(3)])],
    ['agreed', atLeastOnceTo('fan')],
    ['copy', args()],
  ];
  publisher.declareExchange('fan', { type: 'fanout', durable: true });
  const later = args(['x-delayed-type', longstr('direct')]);
  publisher.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: later });
  for (const [name, given] of declared) publisher.declareQueue(name, { durable: true, arguments: given });
  for (const name of ['work', 'copy']) publisher.bindQueue(name, 'fan', '');
  publisher.bindQueue('agreed', 'later', 'k');
  const taker: Channel = broker.connect().openChannel(silentOutbox);
  const take = (queue: string, settle: (tag: number) => void): void => {
    try {
      const got = taker.get(queue);
      if (got !== undefined) settle(got.deliveryTag);
    } catch {
      // 541 while its body cannot be read
    }
  };
  for (let round = 0; round < 4; round++) {
    for (const [name] of declared) {
      publish('', name, name === 'ranked' ? { priority: round } : {});
      publish('', name);
    }
    publish('fan', '');
    publish('later', 'k', { headers: args(['x-delay', int32(30)]) });
    await wait();
    take('work', (tag) => taker.reject(tag, false));
    take('agreed', (tag) => taker.reject(tag, false));
    take('agreed', (tag) => taker.reject(tag, true));
    take('ranked', (tag) => taker.reject(tag, true));
    try {
      const got = taker.get('copy');
      if (got !== undefined) {
        account.acked.add(got.message.properties.messageId as string);
        taker.ack(got.deliveryTag);
      }
    } catch {
      // as above
    }
    clock.advance(20 + 20 * round);
    await wait();
    const vhost = broker.virtualHost('/');
    const dead = vhost.queues.get('dead')!;
    for (const entry of dead.browse({ limit: 2 }).entries)
      vhost.redrive(dead, entry, { exchange: '', routingKey: 'work', headers: undefined });
    await wait();
  }
}

const within = async <T>(what: string, promise: Promise<T>, milliseconds = 20_000): Promise<T | undefined> => {
  const late = Symbol();
  const timer = new AbortController();
  const result = await Promise.race([promise, setTimeout(milliseconds, late, { signal: timer.signal })]);
  timer.abort();
  if (result === late) throw new Error(`${what} does not end`);
  return result as T;
};

/** The messages that are anywhere after a restart, each with its body. */
async function found(disk: FakeDisk, clock: ManualClock): Promise<Set<string>> {
  const { journal, broker } = await open(new FaultyDisk(disk), clock);
  const there = new Set<string>();
  expect(journal.damage).toMatchObject({ places: [], queues: [], misplaced: 0 });
  const vhost = broker.virtualHost('/');
  const channel = broker.connect().openChannel({
    ...silentOutbox,
    deliver: ({ message, body }) => {
      const id = message.properties.messageId as string;
      expect(bodyOf(id).equals(Buffer.from(body))).toBe(true);
      there.add(id);
    },
  });
  clock.advance(60_000);
  vhost.exchanges.get('later')?.delayed?.each(({ message }) => void there.add(message.properties.messageId as string));
  for (const name of vhost.queues.keys()) channel.consume(name);
  await journal.close();
  return there;
}

interface Plan {
  readonly code: string;
  /** Calls that fail: from the first one on. */
  readonly from: number;
  readonly length: number;
  /** Only these calls fail. */
  readonly only?: readonly Call[];
}

async function live({ code, from, length, only }: Plan): Promise<{ calls: number; account: Account }> {
  const disk = new FakeDisk();
  disk.isManual = false;
  const clock = new ManualClock();
  const account: Account = { confirmed: new Set(), acked: new Set(), answers: new Map(), published: 0 };
  const faulty = new FaultyDisk(disk);
  const error = systemError(code, 'injected');
  faulty.fault = (call, count) =>
    count >= from && count < from + length && only?.includes(call) !== false ? error : undefined;
  const label = (): string => `${code} at call ${from} (${faulty.calls[from - 1]}) for ${length}`;
  let harness;
  try {
    harness = await within(`${label()}: opening`, open(faulty, clock));
  } catch (thrown) {
    expect((thrown as Error).name, label()).toBe('StoreError');
    expect(faulty.opened, `${label()}: files open after a failed start`).toBe(0);
    return { calls: faulty.calls.length, account };
  }
  const { broker, journal } = harness!;
  await work(broker, clock, account);
  for (let second = 0; second < 8; second++) {
    clock.advance(1_000);
    await setImmediate();
  }
  await within(
    `${label()}: closing`,
    journal.close().catch(() => undefined),
  );
  expect(account.answers.size, `${label()}: publishes answered`).toBe(account.published);
  if (length !== Infinity && !journal.hasFailed) expect(broker.stalls.count, `${label()}: stalled`).toBe(0);
  expect(faulty.opened, `${label()}: files still open after close`).toBe(0);
  const copy = disk.copy();
  copy.isManual = false;
  const there = await found(copy, new ManualClock(clock.now()));
  const lost = [...account.confirmed].filter((id) => !there.has(id) && !account.acked.has(id));
  expect(lost, `${label()}: confirmed and lost`).toEqual([]);
  return { calls: faulty.calls.length, account };
}

describe('a disk on which one call fails, or all of a kind from then on', () => {
  const faults: [string, number, Call[] | undefined][] = [
    ['EIO', 1, undefined],
    ['EMFILE', 3, undefined],
    ['ENOSPC', Infinity, ['write']],
    ['EIO', Infinity, ['read', 'readSync', 'close']],
  ];
  const step = amount('FAULT_STEP', 12, 1);

  it.each(faults)(
    '%s, %d times, of %s: nothing confirmed is lost, all is answered, all files are closed',
    { timeout: 120_000 },
    async (code, length, only) => {
      const { calls, account } = await live({ code, from: Infinity, length: 0 });
      expect(account.confirmed.size, 'without a fault').toBe(account.published);
      for (let from = 1 + faults.findIndex(([each]) => each === code); from <= calls; from += step)
        await live({ code, from, length, ...(only && { only }) });
    },
  );
});
