import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Field, type FieldTable, int32, longstr, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import { serve, type Served, type ServeOptions } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { until } from '../amqp/harness.js';
import type { WireChannel } from '../contract/wire/channel.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { memoryInUse } from './memory.js';
import { endsAfterEach } from '../harnesses/ends.js';

const ends = endsAfterEach();

async function open(options: ServeOptions = {}): Promise<Served> {
  const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 }, memoryLimit: 1, ...options });
  ends.push(() => served.close());
  return served;
}

async function channelOf({ amqp: { port } }: Served): Promise<WireChannel> {
  const wire = { host: '127.0.0.1', port, user: 'guest', password: 'guest', vhost: '/' };
  const connection = await WireConnection.open(wire);
  ends.push(() => connection.drop());
  return connection.openChannel();
}

const empty: Field = { type: 'V', value: undefined };
/** 130 KB on the wire, and 6 MB as objects. */
const voids: Field = { type: 'A', value: Array.from({ length: 130_000 }, () => empty) };
const count = 12;
const onTheWire = count * 130_000;

/** Each with headers of its own, so that none are shared. */
async function publish(channel: WireChannel, more: FieldTable = new Map(), deliveryMode = 1): Promise<void> {
  const headers = new Map<string, Field>([['number', int32(0)], ['voids', voids], ...more]);
  const header = writeContentHeader({ headers, deliveryMode }, 0);
  const number = header.indexOf('number') + 'numberI'.length;
  for (let at = 0; at < count; at++) {
    header.writeInt32BE(at, number);
    channel.connection.frame(1, channel.number, writeMethod('basic.publish', { exchange: '', key: 'q' }));
    channel.connection.frame(2, channel.number, header);
    await until(() => channel.connection.socket.writableLength < 1_000_000);
  }
  await channel.call('queue.declare', { queue: 'q', passive: true });
}

const dead = (): FieldTable =>
  new Map([
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr('dead')],
  ]);

const lengthOf = ({ broker }: Served, queue: string): number => broker.virtualHost('/').queues.get(queue)?.length ?? 0;

describe('headers of a waiting message take what they took on the wire', () => {
  it('published over AMQP', async () => {
    const served = await open();
    const channel = await channelOf(served);
    await channel.call('queue.declare', { queue: 'q' });
    const before = memoryInUse();
    await publish(channel);
    expect(lengthOf(served, 'q')).toBe(count);
    expect(memoryInUse() - before).toBeLessThan(onTheWire * 2 + 6_000_000);
  });

  it('published over HTTP', async () => {
    const served = await open();
    const channel = await channelOf(served);
    await channel.call('queue.declare', { queue: 'q' });
    const { port } = served.http as { port: number };
    const before = memoryInUse();
    const list = `[${'true,'.repeat(129_999)}true]`;
    for (let number = 0; number < count; number++) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/exchanges/%2F/amq.default/publish`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` },
        body: `{"routing_key":"q","payload":"x","payload_encoding":"string","properties":{"headers":{"n":${number},"v":${list}}}}`,
      });
      expect(await answer.json()).toEqual({ routed: true });
    }
    expect(lengthOf(served, 'q')).toBe(count);
    expect(memoryInUse() - before).toBeLessThan(onTheWire * 4 + 8_000_000);
  });

  it.each<[string, FieldTable]>([
    ['dead', new Map()],
    ['dead, with an x-death of its own', new Map([['x-death', { type: 'A', value: [table(new Map())] }]])],
  ])('%s', async (_, more) => {
    const served = await open();
    const channel = await channelOf(served);
    await channel.call('queue.declare', { queue: 'dead' });
    await channel.call('queue.declare', { queue: 'q', arguments: new Map([...dead(), ['x-max-length', int32(0)]]) });
    const before = memoryInUse();
    await publish(channel, more);
    expect(lengthOf(served, 'dead')).toBe(count);
    expect(memoryInUse() - before).toBeLessThan(onTheWire * 2 + 6_000_000);
    const { properties } = await channel.call('basic.get', { queue: 'dead', noAck: true });
    const headers = properties?.headers;
    expect(headers?.get('number')).toEqual(int32(0));
    expect(headers?.get('voids')).toEqual(voids);
    const deaths = headers?.get('x-death');
    const newest = deaths?.type === 'A' ? deaths.value[0] : undefined;
    expect(newest?.type === 'F' && newest.value.get('reason')).toEqual(longstr('maxlen'));
    expect(newest?.type === 'F' && newest.value.get('count')).toEqual({ type: 'l', value: 1 });
    expect(headers?.get('x-first-death-queue')).toEqual(longstr('q')); // rule W3
  });

  it('also after they were delivered and came back, and were looked at', async () => {
    const served = await open();
    const channel = await channelOf(served);
    await channel.call('queue.declare', { queue: 'dead' });
    await channel.call('queue.declare', { queue: 'q', arguments: new Map([...dead(), ['x-max-length', int32(0)]]) });
    const before = memoryInUse();
    await publish(channel);
    for (let number = 0; number < 10; number++) await channel.call('basic.get', { queue: 'dead' });
    await channel.call('basic.recover', { requeue: true });
    expect(lengthOf(served, 'dead')).toBe(count);
    expect(memoryInUse() - before).toBeLessThan(onTheWire * 2 + 6_000_000);
  });

  it('also after a restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'headers-'));
    ends.push(() => rmSync(directory, { recursive: true, force: true }));
    const first = await serve({ amqp: { host: '127.0.0.1', port: 0 }, memoryLimit: 1, data: { directory } });
    const channel = await channelOf(first);
    await channel.call('queue.declare', { queue: 'q', durable: true });
    await publish(channel, new Map(), 2);
    channel.connection.drop();
    await first.close();
    const before = memoryInUse();
    const served = await open({ data: { directory } });
    expect(lengthOf(served, 'q')).toBe(count);
    expect(memoryInUse() - before).toBeLessThan(onTheWire * 2 + 12_000_000);
    const got = await (await channelOf(served)).call('basic.get', { queue: 'q', noAck: true });
    expect(got.properties?.headers?.get('voids')).toEqual(voids);
  });
});

it('a headers exchange routes by them (rule P8)', async () => {
  const served = await open();
  const channel = await channelOf(served);
  await channel.call('queue.declare', { queue: 'q' });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'number']) {
    const args = new Map([[name, int32(7)]]);
    await channel.call('queue.bind', { queue: 'q', exchange: 'amq.headers', key: '', arguments: args });
    const headers = new Map<string, Field>([
      ['voids', voids],
      ['number', int32(7)],
    ]);
    channel.publish({ exchange: 'amq.headers', key: '' }, { headers }, Buffer.from('x'));
  }
  await channel.call('queue.declare', { queue: 'q', passive: true });
  expect(lengthOf(served, 'q')).toBe(1);
});

it('arguments that are kept for long have a bound, and the error names it', async () => {
  const channel = await channelOf(await open());
  const args = new Map([['anything', voids]]);
  await expect(channel.call('queue.declare', { queue: 'q', arguments: args })).rejects.toThrow(/406.*values/s);
});
