import { setImmediate } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DlxBrokerModule, DlxClient, sharedBroker } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { listen } from '../../../libs/dlx-broker/src/amqp/server/index.js';
import { policyPatterns, randomNames, SystemClock } from '../../../libs/dlx-broker/src/platform/index.js';
import { Broker } from '../../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../../libs/dlx-broker/src/store/log/disk-journal.js';
import { guestOf, addUsers } from '../../../libs/dlx-broker/src/platform/logins/index.js';
import type { WireChannel } from '../../contract/wire/channel.js';
import { WireConnection } from '../../contract/wire/connection.js';
import { Random } from '../../fuzz/random.js';
import { FakeDisk } from '../fake-disk.js';
import { systemError } from '../fake-file.js';

const body = Buffer.from('x');
const failing = systemError('EIO', 'i/o error, fdatasync');
const cause = /EIO: i\/o error, fdatasync: the data directory cannot be written\. All that was confirmed is safe/;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A broker on a disk that does what the test says. */
async function harness(disk = new FakeDisk()) {
  disk.isManual = false;
  const failures: Error[] = [];
  const journal = await DiskJournal.open(disk, { failed: (error) => failures.push(error) });
  const broker = new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns, journal });
  journal.restore(broker);
  addUsers(broker, [guestOf('/')]);
  ends.push(() => broker.close());
  return { disk, journal, broker, failures };
}

async function connect(broker: Broker) {
  const listener = await listen(broker, { port: 0 });
  ends.push(() => listener.close());
  const { port } = listener;
  const wire = { host: '127.0.0.1', port, user: 'guest', password: 'guest', vhost: '/' };
  const channel = await (await WireConnection.open(wire)).openChannel();
  ends.push(() => channel.connection.drop());
  return channel;
}

/** Publishes so many, and keeps the books of their confirms. */
class Publisher {
  readonly fates = new Map<number, string>();

  constructor(readonly channel: WireChannel) {
    channel.listener = ({ name, args }) => {
      const { deliveryTag, multiple } = args as { deliveryTag: number | bigint; multiple: boolean };
      for (let tag = 1; tag <= Number(deliveryTag); tag++) {
        if (!this.fates.has(tag) && (multiple || tag === Number(deliveryTag))) this.fates.set(tag, name);
      }
    };
  }

  publish(queue: string, count: number): void {
    for (; count > 0; count--) this.channel.publish({ key: queue }, { deliveryMode: 2 }, body);
  }

  async settled(count: number): Promise<string[]> {
    await until(() => this.fates.size === count);
    return Array.from({ length: count }, (_, index) => this.fates.get(index + 1) as string);
  }
}

/** Goes on until it holds: other things have their turn. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate();
}

const many = (count: number, what: string): string[] => Array.from({ length: count }, () => what);

describe('clients of a broker whose disk fails', () => {
  it('get a nack for all that was on its way, and for all that comes later', async () => {
    const { disk, broker, failures } = await harness();
    const channel = await connect(broker);
    await channel.call('queue.declare', { queue: 'work', durable: true });
    await channel.call('queue.declare', { queue: 'passing' });
    await channel.call('confirm.select', {});
    const publisher = new Publisher(channel);
    publisher.publish('work', 1);
    expect(await publisher.settled(1)).toEqual(['basic.ack']);
    disk.isManual = true;
    publisher.publish('work', 10);
    await until(() => disk.waiting > 0);
    publisher.publish('work', 10); // waits for the next batch
    await until(() => broker.virtualHost('/').queues.get('work')?.length === 21);
    expect(publisher.fates.size).toBe(1);
    disk.syncError = failing;
    const timer = setInterval(() => disk.advance(), 1);
    ends.push(() => clearInterval(timer));
    expect(await publisher.settled(21)).toEqual(['basic.ack', ...many(20, 'basic.nack')]);
    publisher.publish('work', 1);
    publisher.publish('passing', 1); // nothing is promised of it
    expect((await publisher.settled(23)).slice(-2)).toEqual(['basic.nack', 'basic.ack']);
    expect(failures.map(({ message }) => message)).toEqual([expect.stringMatching(cause)]);
  });

  it('lose the channel with 406 when it was a transaction, as where a queue refuses a part of it', async () => {
    const { disk, broker } = await harness();
    const channel = await connect(broker);
    await channel.call('queue.declare', { queue: 'work', durable: true });
    await channel.call('tx.select', {});
    channel.publish({ key: 'work' }, { deliveryMode: 2 }, body);
    disk.syncError = failing;
    await expect(channel.call('tx.commit', {})).rejects.toMatchObject({
      code: 406,
      text: 'PRECONDITION_FAILED - partial tx completion',
      closes: 'channel',
    });
  });

  it('lose the connection with 541 and the reason for what cannot be declared any more', async () => {
    const { disk, broker } = await harness();
    const channel = await connect(broker);
    await channel.call('queue.declare', { queue: 'before', durable: true });
    const [onItsWay, later] = [await connect(broker), await connect(broker)];
    disk.syncError = failing;
    for (const [each, queue] of [
      [onItsWay, 'work'],
      [later, 'other'],
    ] as const) {
      await expect(each.call('queue.declare', { queue, durable: true })).rejects.toMatchObject({
        code: 541,
        text: expect.stringMatching(
          /^INTERNAL_ERROR - EIO: i\/o error, fdatasync: the data directory cannot be written/,
        ),
        closes: 'connection',
      });
    }
    // A client that declares nothing continues.
    expect((await channel.call('queue.declare', { queue: 'before', passive: true })).name).toBe('queue.declare-ok');
    expect((await channel.call('queue.declare', { queue: 'passing' })).name).toBe('queue.declare-ok');
  });

  it('get the answer to a declaration when it is on the disk, and no later answer before it', async () => {
    const { disk, broker } = await harness();
    const channel = await connect(broker);
    disk.isManual = true;
    const answers: string[] = [];
    const asked = [
      channel.call('exchange.declare', { exchange: 'logs', type: 'fanout', durable: true }),
      channel.call('queue.declare', { queue: 'passing' }),
      channel.call('queue.declare', { queue: 'work', durable: true }),
      channel.call('queue.bind', { queue: 'work', exchange: 'logs' }),
      channel.call('channel.close', {}),
    ];
    for (const answer of asked) void answer.then(({ name }) => answers.push(name));
    await until(() => disk.waiting > 0);
    const other = await connect(broker); // no other client waits
    expect((await other.call('queue.declare', { queue: 'theirs' })).name).toBe('queue.declare-ok');
    expect(answers).toEqual([]);
    const timer = setInterval(() => disk.advance(), 1);
    ends.push(() => clearInterval(timer));
    await Promise.all(asked);
    expect(answers).toEqual([
      'exchange.declare-ok',
      'queue.declare-ok',
      'queue.declare-ok',
      'queue.bind-ok',
      'channel.close-ok',
    ]);
    const found = disk.afterPowerCut(new Random(1));
    found.isManual = false;
    const again = await harness(found);
    expect(again.broker.virtualHost('/').exchange('logs').bindingCount).toBe(1);
    expect(again.broker.virtualHost('/').queues.has('work')).toBe(true);
  });
});

describe('a Nest application whose disk fails', () => {
  it('hears it from emit, of what was on its way and of what comes later', async () => {
    const { disk, broker } = await harness();
    class AppModule {}
    Module({ imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker) })] })(AppModule);
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    ends.push(() => app.close());
    const channel = broker.connect().openChannel(silent);
    channel.declareQueue('jobs', { durable: true });
    channel.bindQueue('jobs', 'dlx.events', 'job.wanted');
    const client = app.get(DlxClient);
    const emit = (): Promise<unknown> => firstValueFrom(client.emit('job.wanted', { id: 1 }), { defaultValue: 'kept' });
    await expect(emit()).resolves.toBeUndefined();
    disk.syncError = failing;
    for (let time = 0; time < 2; time++) {
      const failure = (await emit().catch((error: unknown) => error)) as Error;
      expect(failure.name).toBe('RefusedError');
      expect(failure.message).toMatch(/^a queue of exchange 'dlx\.events' .* cannot keep the message \(nack\): EIO/);
      expect(failure.message).toMatch(cause);
    }
  });
});

const silent = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };
