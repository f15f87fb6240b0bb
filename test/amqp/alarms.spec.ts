import amqplib from 'amqplib';
import { afterEach, describe, expect, it } from 'vitest';
import type { Alarm, ListenOptions } from '../../libs/dlx-broker/src/amqp/index.js';
import { type AmqpHouse, amqpHouse, until } from './house.js';

const houses: AmqpHouse[] = [];
afterEach(() => Promise.all(houses.splice(0).map((house) => house.close())));
async function open(options: ListenOptions): Promise<AmqpHouse> {
  const house = await amqpHouse(options);
  houses.push(house);
  return house;
}

/** An alarm that is raised by hand. */
class Switch implements Alarm {
  isOn = false;
  constructor(readonly resource: Alarm['resource']) {}
  isRaised(): boolean {
    return this.isOn;
  }
}

/** A publisher with confirms, and what it is told. */
async function publisherOf(house: AmqpHouse) {
  const connection = await amqplib.connect(house.url);
  const log: string[] = [];
  connection.on('blocked', (reason) => log.push(`blocked: ${String(reason)}`));
  connection.on('unblocked', () => log.push('unblocked'));
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('q');
  const publish = (): boolean => channel.sendToQueue('q', Buffer.from('one'), {}, () => log.push('confirmed'));
  return { connection, channel, log, publish };
}

const isRaised = (house: AmqpHouse, ...resources: readonly string[]): Promise<void> =>
  until(() => house.listener.raised.join() === resources.join());

const stateOf = ({ broker }: AmqpHouse): string[] =>
  [...broker.virtualHost('/').connections].map(({ client }) => String(client?.state()));

describe('while something is short', () => {
  it('publishers wait and are told, everybody else goes on (connection.blocked)', async () => {
    let used = 0;
    const house = await open({ memory: () => ({ used, limit: 100 }) });
    const { connection, channel, log, publish } = await publisherOf(house);
    const other = await amqplib.connect(house.url);
    const consumer = await other.createChannel();
    expect(stateOf(house)).toEqual(['running', 'running']);
    used = 101;
    await isRaised(house, 'memory');
    expect(stateOf(house)).toEqual(['blocking', 'blocking']);
    publish();
    await until(() => log.length > 0);
    expect(stateOf(house)).toEqual(['blocked', 'blocking']);
    expect((await consumer.checkQueue('q')).messageCount).toBe(0);
    used = 0;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on memory', 'unblocked', 'confirmed']);
    expect(stateOf(house)).toEqual(['running', 'running']);
    expect((await consumer.checkQueue('q')).messageCount).toBe(1);
    await Promise.all([connection.close(), other.close()]);
  });

  it('the disk counts too, and what is lent twice is named once', async () => {
    const disks = [new Switch('disk'), new Switch('disk')];
    const house = await open({ alarms: disks });
    const { connection, channel, log, publish } = await publisherOf(house);
    for (const disk of disks) disk.isOn = true;
    await isRaised(house, 'disk');
    publish();
    await until(() => log.length > 0);
    for (const disk of disks) disk.isOn = false;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on disk', 'unblocked', 'confirmed']);
    await connection.close();
  });

  it('a publisher waits until all alarms are over, and is told of the first ones only', async () => {
    const disk = new Switch('disk');
    const memory = new Switch('memory');
    const house = await open({ alarms: [memory, disk] });
    const { connection, channel, log, publish } = await publisherOf(house);
    memory.isOn = true;
    await isRaised(house, 'memory');
    publish();
    await until(() => log.length > 0);
    disk.isOn = true;
    await isRaised(house, 'disk', 'memory');
    memory.isOn = false;
    await isRaised(house, 'disk');
    expect(stateOf(house)).toEqual(['blocked']);
    expect(log).toEqual(['blocked: low on memory']);
    disk.isOn = false;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on memory', 'unblocked', 'confirmed']);
    await connection.close();
  });

  it('two reasons are told in one text', async () => {
    const alarms = [new Switch('memory'), new Switch('disk')];
    const house = await open({ alarms });
    const { connection, channel, log, publish } = await publisherOf(house);
    for (const alarm of alarms) alarm.isOn = true;
    await isRaised(house, 'disk', 'memory');
    publish();
    await until(() => log.length > 0);
    for (const alarm of alarms) alarm.isOn = false;
    await channel.waitForConfirms();
    expect(log).toEqual(['blocked: low on disk & memory', 'unblocked', 'confirmed']);
    await connection.close();
  });
});
