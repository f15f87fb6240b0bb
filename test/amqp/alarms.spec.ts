import amqplib from 'amqplib';
import { afterEach, describe, expect, it } from 'vitest';
import type { Alarm, ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

const harnesses: AmqpHouse[] = [];
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));
async function open(options: ListenOptions): Promise<AmqpHouse> {
  const harness = await amqpHouse(options);
  harnesses.push(harness);
  return harness;
}

/** An alarm that is raised by hand. */
class Switch implements Alarm {
  isOn = false;
  constructor(readonly resource: Alarm['resource']) {}
  isRaised(): boolean {
    return this.isOn;
  }
}

/** A publisher with confirms, and the notifications that it gets. */
async function publisherOf(harness: AmqpHouse) {
  const connection = await amqplib.connect(harness.url);
  const log: string[] = [];
  connection.on('blocked', (reason) => log.push(`blocked: ${String(reason)}`));
  connection.on('unblocked', () => log.push('unblocked'));
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('q');
  const publish = (): boolean => channel.sendToQueue('q', Buffer.from('one'), {}, () => log.push('confirmed'));
  return { connection, channel, log, publish };
}

const isRaised = (harness: AmqpHouse, ...resources: readonly string[]): Promise<void> =>
  until(() => harness.listener.raised.join() === resources.join());

const stateOf = ({ broker }: AmqpHouse): string[] =>
  [...broker.virtualHost('/').connections].map(({ client }) => String(client?.state()));

describe('while something is short', () => {
  it('publishers wait and are notified, all other clients go on (connection.blocked)', async () => {
    let used = 0;
    const harness = await open({ memory: () => ({ used, limit: 100 }) });
    const { connection, channel, log, publish } = await publisherOf(harness);
    const other = await amqplib.connect(harness.url);
    const consumer = await other.createChannel();
    expect(stateOf(harness)).toEqual(['running', 'running']);
    used = 101;
    await isRaised(harness, 'memory');
    expect(stateOf(harness)).toEqual(['blocking', 'blocking']);
    publish();
    await until(() => log.length > 0);
    expect(stateOf(harness)).toEqual(['blocked', 'blocking']);
    expect((await consumer.checkQueue('q')).messageCount).toBe(0);
    used = 0;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on memory', 'unblocked', 'confirmed']);
    expect(stateOf(harness)).toEqual(['running', 'running']);
    expect((await consumer.checkQueue('q')).messageCount).toBe(1);
    await Promise.all([connection.close(), other.close()]);
  });

  it('the disk counts too, and what is lent twice is named once', async () => {
    const disks = [new Switch('disk'), new Switch('disk')];
    const harness = await open({ alarms: disks });
    const { connection, channel, log, publish } = await publisherOf(harness);
    for (const disk of disks) disk.isOn = true;
    await isRaised(harness, 'disk');
    publish();
    await until(() => log.length > 0);
    for (const disk of disks) disk.isOn = false;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on disk', 'unblocked', 'confirmed']);
    await connection.close();
  });

  it('a publisher waits until all alarms are over, and is notified of the first ones only', async () => {
    const disk = new Switch('disk');
    const memory = new Switch('memory');
    const harness = await open({ alarms: [memory, disk] });
    const { connection, channel, log, publish } = await publisherOf(harness);
    memory.isOn = true;
    await isRaised(harness, 'memory');
    publish();
    await until(() => log.length > 0);
    disk.isOn = true;
    await isRaised(harness, 'disk', 'memory');
    memory.isOn = false;
    await isRaised(harness, 'disk');
    expect(stateOf(harness)).toEqual(['blocked']);
    expect(log).toEqual(['blocked: low on memory']);
    disk.isOn = false;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on memory', 'unblocked', 'confirmed']);
    await connection.close();
  });

  it('two reasons are one text', async () => {
    const alarms = [new Switch('memory'), new Switch('disk')];
    const harness = await open({ alarms });
    const { connection, channel, log, publish } = await publisherOf(harness);
    for (const alarm of alarms) alarm.isOn = true;
    await isRaised(harness, 'disk', 'memory');
    publish();
    await until(() => log.length > 0);
    for (const alarm of alarms) alarm.isOn = false;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on disk & memory', 'unblocked', 'confirmed']);
    await connection.close();
  });
});
