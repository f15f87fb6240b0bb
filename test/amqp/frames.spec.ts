import { describe, expect, it } from 'vitest';
import type { Field } from '../../libs/dlx-broker/src/engine/message/index.js';
import { attempt, hard } from '../contract/contract.js';
import { WireConnection, type WireOptions } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { Brokers } from './brokers.js';
import { Talk } from './talk.js';

const brokers = new Brokers();

const endOf = async (connection: WireConnection): Promise<unknown> => attempt(Promise.reject(await connection.ended));

/** A table in which `a` is of type Z. */
const typeZ = Buffer.from([0, 0, 0, 3, 1, 0x61, 0x5a]);
const internalError = { code: 541, text: 'INTERNAL_ERROR', at: '0.0', closes: 'connection' };

/** A queue of this connection alone, gone with it. */
async function withQueue(wire: WireOptions) {
  const connection = await WireConnection.open(wire);
  const channel = await connection.openChannel();
  const { args } = await channel.call('queue.declare', { queue: '', exclusive: true });
  return { connection, channel, queue: args['queue'] as string };
}

describe('frames', () => {
  it('of other channels may stand between those of a message', async () => {
    const said = await brokers.each(async (wire) => {
      const { connection, channel, queue } = await withQueue(wire);
      const other = await connection.openChannel();
      connection.frame(1, 1, writeMethod('basic.publish', { exchange: '', key: queue }));
      const asked = other.call('basic.qos', { prefetchCount: 1 });
      connection.frame(2, 1, writeContentHeader({}, 6));
      connection.frame(8, 0, Buffer.alloc(0));
      connection.frame(3, 1, Buffer.from('abc'));
      const { name } = await asked;
      connection.frame(3, 1, Buffer.from('def'));
      const got = await channel.call('basic.get', { queue });
      connection.drop();
      return [name, String(got.body)];
    });
    expect(said).toEqual(brokers.same(['basic.qos-ok', 'abcdef']));
  });

  it('whose payload is as long as frame-max are accepted', async () => {
    const said = await brokers.each(async (wire) => {
      const { connection, channel, queue } = await withQueue({ ...wire, frameMax: 4096 });
      connection.frame(1, 1, writeMethod('basic.publish', { exchange: '', key: queue }));
      connection.frame(2, 1, writeContentHeader({}, 4_096));
      connection.frame(3, 1, Buffer.alloc(4_096));
      const { body } = await channel.call('basic.get', { queue });
      connection.drop();
      return body?.length;
    });
    expect(said).toEqual(brokers.same(4_096));
  });

  it('that announce a payload above frame-max are refused before it arrives', async () => {
    const said = await brokers.each(async (wire) => {
      const connection = await WireConnection.open({ ...wire, frameMax: 4096 });
      await connection.openChannel();
      const claim = writeFrame(1, 1, Buffer.alloc(0)).subarray(0, 7);
      claim.writeUInt32BE(4_097, 3);
      connection.write(claim);
      return endOf(connection);
    });
    expect(said).toEqual(
      brokers.same({
        code: 501,
        text: 'FRAME_ERROR - type 1, all octets = <<>>: {frame_too_large,4097,4088}',
        at: '0.0',
        closes: 'connection',
      }),
    );
  });

  it('are answered in the order of the requests of a channel, however many come at once', async () => {
    const said = await brokers.each(async (wire) => {
      const { connection, channel, queue } = await withQueue(wire);
      await channel.call('confirm.select', {});
      const answers: string[] = [];
      const asked: Promise<unknown>[] = [];
      const requests = [
        ['basic.qos', { prefetchCount: 5 }],
        ['basic.get', { queue, noAck: true }],
        ['queue.declare', { queue, passive: true }],
        ['basic.recover', { requeue: true }],
        ['queue.purge', { queue }],
      ] as const;
      for (let round = 0; round < 40; round++) {
        channel.publish({ exchange: '', key: queue }, {}, Buffer.from('x'));
        for (const [name, args] of requests) {
          asked.push(channel.call(name, args).then((answer) => void answers.push(answer.name)));
        }
      }
      await Promise.all(asked);
      connection.drop();
      const ok = ['basic.qos-ok', 'basic.get-ok', 'queue.declare-ok', 'basic.recover-ok', 'queue.purge-ok'];
      return (
        answers.join() ===
        Array.from({ length: 40 }, () => ok)
          .flat()
          .join()
      );
    });
    expect(said).toEqual(brokers.same(true));
  });

  it('may have bits set that mean nothing, and tickets of any number', async () => {
    const said = await brokers.each(async (wire) => {
      const { connection, channel, queue } = await withQueue(wire);
      const declare = writeMethod('queue.declare', { ticket: 513, queue, passive: true });
      const bits = declare.length - 5; // in front of an empty table
      declare[bits] = (declare[bits] as number) | 0xe0;
      connection.frame(1, 1, declare);
      // The first answer is the one to that frame.
      const { name } = await channel.call('basic.qos', { prefetchCount: 1 });
      connection.drop();
      return name;
    });
    expect(said).toEqual(brokers.same('queue.declare-ok'));
  });
});

describe('methods', () => {
  it('access.request is answered with ticket 1, channel.flow with what was asked', async () => {
    const said = await brokers.each(async (wire) => {
      const connection = await WireConnection.open(wire);
      const channel = await connection.openChannel();
      const access = await channel.call('access.request', { realm: '/data', active: true });
      const flow = await channel.call('channel.flow', { active: true });
      await connection.close();
      return [access.args, flow.args];
    });
    expect(said).toEqual(brokers.same([{ ticket: 1 }, { active: true }]));
  });

  it('recover-async has no answer', async () => {
    const said = await brokers.each(async (wire) => {
      const { connection, channel, queue } = await withQueue(wire);
      channel.publish({ exchange: '', key: queue }, {}, Buffer.from('x'));
      await channel.call('basic.get', { queue });
      channel.send('basic.recover-async', { requeue: true });
      const { name, args } = await channel.call('basic.get', { queue });
      connection.drop();
      return [name, args['redelivered']];
    });
    expect(said).toEqual(brokers.same(['basic.get-ok', true]));
  });

  it('a channel may have any number, their count is what counts', async () => {
    const said = await brokers.each(async (wire) => {
      const connection = await WireConnection.open(wire);
      const channel = await connection.openChannel(3_000);
      const { name } = await channel.call('basic.qos', { prefetchCount: 1 });
      await connection.close();
      return name;
    });
    expect(said).toEqual(brokers.same('basic.qos-ok'));
  });

  it('of an unknown type end the connection; RabbitMQ ends the socket without an error', async () => {
    const connection = await WireConnection.open(brokers.ours.wire);
    await connection.openChannel();
    connection.frame(1, 1, Buffer.from([0, 60, 0, 99]));
    expect(await endOf(connection)).toEqual(hard(540, '60.99', 'unknown method 60.99'));
  });

  it('with a field of an unknown type are an internal error; RabbitMQ ends the socket without an error', async () => {
    const connection = await WireConnection.open(brokers.ours.wire);
    await connection.openChannel();
    const declare = writeMethod('queue.declare', { queue: '', exclusive: true });
    connection.frame(1, 1, Buffer.concat([declare.subarray(0, -4), typeZ]));
    expect(await endOf(connection)).toEqual(internalError);
  });

  it('a header with a field of an unknown type is an internal error', async () => {
    const said = await brokers.each(async (wire) => {
      const connection = await WireConnection.open(wire);
      await connection.openChannel();
      connection.frame(1, 1, writeMethod('basic.publish', { exchange: '', key: 'nobody' }));
      const header = writeContentHeader({}, 0);
      header.writeUInt16BE(0x2000, 12); // headers and nothing else
      connection.frame(2, 1, Buffer.concat([header, typeZ]));
      return endOf(connection);
    });
    expect(said).toEqual(brokers.same(internalError));
  });
});

describe('the server tells of a cancelled consumer', () => {
  it('only clients that can hear it', async () => {
    const said = await brokers.each(async (wire) => {
      const talk = await Talk.open(wire);
      talk.say(1, 'queue.declare', { queue: '', exclusive: true });
      const { args } = await talk.method();
      talk.say(1, 'basic.consume', { queue: args['queue'] as string, consumerTag: 'c' });
      await talk.method();
      talk.say(1, 'queue.delete', { queue: args['queue'] as string });
      const { name } = await talk.method();
      talk.say(1, 'basic.qos', { prefetchCount: 1 });
      const next = await talk.method();
      talk.drop();
      return [name, next.name];
    });
    expect(said).toEqual(brokers.same(['queue.delete-ok', 'basic.qos-ok']));
  });
});

describe('behind an error', () => {
  it('of a channel its number cannot be opened before close-ok', async () => {
    const said = await brokers.each(async (wire) => {
      const talk = await Talk.open(wire);
      talk.say(1, 'basic.ack', { deliveryTag: 9 });
      const { name } = await talk.method();
      talk.say(1, 'basic.qos', { prefetchCount: 1 }); // ignored
      talk.say(1, 'channel.open');
      const next = await talk.method();
      talk.drop();
      const { code, text, classId, methodId } = next.args;
      return [name, next.name, code, text, classId, methodId];
    });
    const text = "CHANNEL_ERROR - second 'channel.open' seen";
    expect(said).toEqual(brokers.same(['channel.close', 'connection.close', 504, text, 20, 10]));
  });

  it('of a connection everything is ignored but close-ok', async () => {
    const said = await brokers.each(async (wire) => {
      const talk = await Talk.open(wire);
      talk.say(1, 'channel.open');
      const { args } = await talk.method();
      talk.say(1, 'queue.declare', { queue: 'amq.never' });
      talk.say(2, 'channel.open');
      talk.say(0, 'connection.open', { vhost: '/' });
      talk.say(0, 'connection.close-ok');
      const { said: bytes } = await talk.silence();
      return [args['code'], bytes];
    });
    expect(said).toEqual(brokers.same([504, 0]));
  });
});

/** One field of each type, RabbitMQ's letters. */
const fields: readonly (readonly [string, Field])[] = [
  ['a', { type: 't', value: true }],
  ['b', { type: 'b', value: -128 }],
  ['c', { type: 'B', value: 255 }],
  ['d', { type: 's', value: -32_768 }],
  ['e', { type: 'u', value: 65_535 }],
  ['f', { type: 'I', value: -(2 ** 31) }],
  ['g', { type: 'i', value: 2 ** 32 - 1 }],
  ['h', { type: 'l', value: Number.MIN_SAFE_INTEGER }],
  ['i', { type: 'f', value: 0.5 }],
  ['j', { type: 'd', value: 1e300 }],
  ['k', { type: 'D', value: { scale: 2, value: 314 } }],
  ['l', { type: 'S', value: 'text' }],
  ['m', { type: 'T', value: 1_700_000_000 }],
  ['n', { type: 'V', value: undefined }],
  ['o', { type: 'x', value: Uint8Array.of(0, 255) }],
];

describe('a field of each type', () => {
  it('comes back as it went, alone and in tables and arrays, also after a death', async () => {
    const flat = new Map(fields);
    const headers = new Map<string, Field>([
      ...fields,
      ['p', { type: 'A', value: [...flat.values(), { type: 'A', value: [] }] }],
      ['q', { type: 'F', value: flat }],
    ]);
    const said = await brokers.each(async (wire) => {
      const { connection, channel, queue } = await withQueue(wire);
      const dead = (await channel.call('queue.declare', { queue: '', exclusive: true })).args['queue'] as string;
      const toDead = new Map<string, Field>([
        ['x-dead-letter-exchange', { type: 'S', value: '' }],
        ['x-dead-letter-routing-key', { type: 'S', value: dead }],
      ]);
      const work = await channel.call('queue.declare', { queue: '', exclusive: true, arguments: toDead });
      const key = work.args['queue'] as string;
      for (const to of [queue, key]) channel.publish({ exchange: '', key: to }, { headers }, Buffer.from('x'));
      const alive = await channel.call('basic.get', { queue, noAck: true });
      const { args } = await channel.call('basic.get', { queue: key });
      channel.send('basic.reject', { deliveryTag: Number(args['deliveryTag']), requeue: false });
      let died = await channel.call('basic.get', { queue: dead, noAck: true });
      // Elsewhere a dead letter may take its time.
      while (died.name !== 'basic.get-ok') died = await channel.call('basic.get', { queue: dead, noAck: true });
      connection.drop();
      const of = (from: typeof died): [string, Field][] =>
        [...(from.properties?.headers ?? [])].filter(([name]) => !name.startsWith('x-'));
      return [of(alive), of(died)];
    });
    const expected = [...headers];
    for (const [alive, died] of said) {
      expect(alive).toEqual(expected);
      expect(died).toEqual(expected);
    }
  });
});
