import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { BackendDelivery } from '../../libs/dlx-broker/src/backends/index.js';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { LinkedServer } from '../harnesses/amqp-link.js';
import { linkedBackend } from '../harnesses/linked-backend.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './harness.js';

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

async function openOn(disk: FakeDisk) {
  disk.isManual = false;
  const clock = new ManualClock();
  const options = { segment: 16_384, diskFree: 0, checkInterval: 1, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, options);
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  return { broker, journal };
}

const idsIn = (broker: Broker, queue: string): string[] =>
  broker
    .virtualHost('/')
    .queues.get(queue)!
    .browse({ limit: 100 })
    .entries.map(({ message }) => message.properties.messageId!);

/** A fault of a disk, and what ends it. */
interface Fault {
  begin(disk: FakeDisk): void;
  end?(disk: FakeDisk): void;
}

const error = (code: string): Error => systemError(code, 'injected');

const faults: Readonly<Record<string, Fault>> = {
  'EIO on write': { begin: (disk) => void (disk.writeError = error('EIO')) },
  'EIO on sync': { begin: (disk) => void (disk.syncError = error('EIO')) },
  'ENOSPC for a while': {
    begin: (disk) => void (disk.writeError = error('ENOSPC')),
    end: (disk) => void (disk.writeError = undefined),
  },
  'writes of seven bytes': { begin: (disk) => void (disk.longestWrite = 7) },
};

/**
 * An application replaces each message of a queue over AMQP, by pairs. At one of the pairs the disk has its fault.
 * @param at the pair, and how many turns after it was replaced
 */
async function live({ begin, end }: Fault, [pair, turns]: readonly [number, number]) {
  const disk = new FakeDisk();
  const { broker, journal } = await openOn(disk);
  const channel = broker.connect().openChannel(silentOutbox);
  for (const queue of ['work', 'next']) channel.declareQueue(queue, { durable: true });
  for (const id of ids) channel.publish('', 'work', { deliveryMode: 2, messageId: id }, Buffer.from(id));
  await journal.flush();
  const server = new LinkedServer({}, { broker });
  const backend = await linkedBackend(server);
  const deliveries: BackendDelivery[] = [];
  const confirmed: string[] = [];
  const failures: Error[] = [];
  backend.consume('work', { prefetch: 10 }, (delivery) => void deliveries.push(delivery));
  while (deliveries.length < ids.length) await setImmediate();
  const replace = (delivery: BackendDelivery): void => {
    const { properties, body } = delivery.message;
    delivery.replaceBy({ exchange: '', routingKey: 'next', properties, body, mandatory: true }, (failure) => {
      if (failure === undefined) confirmed.push(properties.messageId!);
      else failures.push(failure);
    });
  };
  for (let index = 0; index < ids.length; index += 2) {
    for (const delivery of deliveries.slice(index, index + 2)) replace(delivery);
    if (index / 2 === pair) {
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      begin(disk);
    }
    for (let turn = 0; turn < 20; turn++) await setImmediate();
  }
  const isAnswered = (): boolean => confirmed.length + failures.length === ids.length;
  for (let turn = 0; turn < 200 && !isAnswered(); turn++) await setImmediate();
  // A client tries again what it may.
  end?.(disk);
  for (let turn = 0; turn < 200 && journal.isFull && end !== undefined; turn++) await setTimeout(1);
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  const tried = deliveries.filter(({ settled }) => !settled);
  for (const delivery of tried) replace(delivery);
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  const copy = disk.copy();
  const { broker: after } = await openOn(copy);
  expect(server.faults).toEqual([]);
  return {
    confirmed,
    failures,
    tried: tried.length,
    delivered: deliveries.length,
    memory: [
      ...deliveries.filter(({ settled }) => !settled).map(({ message }) => message.own.messageId),
      ...idsIn(broker, 'next'),
    ],
    work: idsIn(after, 'work'),
    next: idsIn(after, 'next'),
  };
}

describe.each(Object.entries(faults))('rule K14: replacing deliveries on a disk with %s', (name, fault) => {
  const moments = [0, 1, 2].flatMap((pair) => [0, 1, 2, 3, 4, 6, 9].map((turns) => [pair, turns] as const));

  it('loses no message, doubles none, and the channel of the consumer goes on', async () => {
    let refused = 0;
    for (const moment of moments) {
      const found = await live(fault, moment);
      const when = `${name} at ${moment.join('.')}: ${JSON.stringify(found.failures.map(String))}`;
      expect([...found.work, ...found.next].toSorted(), when).toEqual(ids);
      expect(found.next, when).toEqual(expect.arrayContaining(found.confirmed));
      expect(found.memory.toSorted(), `${when} in memory`).toEqual(ids);
      expect(found.delivered, `${when}: delivered again`).toBe(ids.length);
      refused += found.failures.length;
      if (fault.end !== undefined || name.startsWith('writes')) expect(found.next.toSorted(), when).toEqual(ids);
    }
    expect(refused > 0).toBe(name.startsWith('E'));
  });
});
