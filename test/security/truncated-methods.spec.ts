import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bool } from '../../libs/dlx-broker/src/engine/message/index.js';
import { type AmqpHouse, amqpHouse } from '../amqp/harness.js';
import { Talk } from '../amqp/talk.js';
import { writeFrame } from '../contract/wire/frames.js';
import { type Arguments, readMethod, writeMethod } from '../contract/wire/methods.js';

const faults: unknown[] = [];
let harness: AmqpHouse;
beforeAll(
  async () => void (harness = await amqpHouse({ log: (fault) => faults.push(fault), limits: { silence: 10 } })),
);
afterAll(() => harness.close());

const table = { arguments: new Map([['t', bool(true)]]) };

/** Every method that a client may send once its connection is open, and the arguments that are not empty. */
const sent: Readonly<Record<string, Arguments>> = {
  'connection.close': { code: 200, text: 'bye' },
  'channel.open': { reserved1: 'x' },
  'channel.close': { code: 200, text: 'bye' },
  'channel.flow': { active: true },
  'channel.flow-ok': { active: true },
  'access.request': { realm: '/data' },
  'exchange.declare': { exchange: 'x', type: 'topic', ...table },
  'exchange.delete': { exchange: 'x' },
  'exchange.bind': { destination: 'a', source: 'b', key: 'c', ...table },
  'exchange.unbind': { destination: 'a', source: 'b', key: 'c', ...table },
  'queue.declare': { queue: 'q', ...table },
  'queue.bind': { queue: 'q', exchange: 'x', key: 'k', ...table },
  'queue.purge': { queue: 'q' },
  'queue.delete': { queue: 'q' },
  'queue.unbind': { queue: 'q', exchange: 'x', key: 'k', ...table },
  'basic.qos': { prefetchCount: 10 },
  'basic.consume': { queue: 'q', consumerTag: 'c', ...table },
  'basic.cancel': { consumerTag: 'c' },
  'basic.publish': { exchange: 'x', key: 'k' },
  'basic.get': { queue: 'q' },
  'basic.ack': { deliveryTag: 1 },
  'basic.reject': { deliveryTag: 1 },
  'basic.recover-async': { requeue: true },
  'basic.recover': { requeue: true },
  'basic.nack': { deliveryTag: 1 },
  'confirm.select': {},
  'tx.select': {},
  'tx.commit': {},
  'tx.rollback': {},
};

/** Sends one method frame on an open connection. @param channel 1 is open, 2 is not @returns the first method that comes */
async function answer(channel: number, payload: Buffer): Promise<string> {
  const talk = await Talk.open(harness.wire);
  talk.peer.send(writeFrame(1, channel, payload));
  // In case the method has no answer.
  talk.say(3, 'channel.open');
  try {
    const frame = await Promise.race([talk.frame(), talk.peer.ended.then(() => undefined)]);
    if (frame === undefined) return 'ended';
    const { name, args } = readMethod(frame.payload);
    if (!name.endsWith('.close')) return name;
    return `${name} ${args['code']} ${args['text']} (${args['classId']}.${args['methodId']})`;
  } finally {
    talk.drop();
  }
}

async function answers(channel: number, payloads: readonly Buffer[]): Promise<string[]> {
  const all: string[] = [];
  for (let at = 0; at < payloads.length; at += 20) {
    all.push(...(await Promise.all(payloads.slice(at, at + 20).map((payload) => answer(channel, payload)))));
  }
  return all;
}

const cases = Object.entries(sent).map(([name, args]) => ({
  name,
  channel: name.startsWith('connection') ? 0 : 1,
  whole: writeMethod(name, args),
}));

/** As RabbitMQ 3.10.8 has it, but for a `connection.close`, where it gives 541. */
function undecodable(whole: Buffer, payload: Buffer): string {
  const numbers = `${whole.readUInt16BE(0)}.${whole.readUInt16BE(2)}`;
  return `connection.close 501 FRAME_ERROR - cannot decode <<${[...payload.subarray(4)].join()}>> (${numbers})`;
}

describe('a method whose arguments end too soon or too late (rule T5)', () => {
  it('ends the connection with 501, whatever the method and wherever it is cut', async () => {
    for (const { name, channel, whole } of cases) {
      const cut = Array.from({ length: whole.length - 4 }, (_, length) => whole.subarray(0, 4 + length));
      const payloads = [
        ...cut,
        Buffer.concat([whole, Buffer.from([0])]),
        Buffer.concat([whole, Buffer.alloc(9, 0xff)]),
      ];
      const expected = payloads.map((payload) => undecodable(whole, payload));
      expect(await answers(channel, payloads), name).toEqual(expected);
    }
    expect(faults).toEqual([]);
  }, 30_000);

  it('also a channel.open of a channel that is not open, and a frame without a whole method', async () => {
    const whole = writeMethod('channel.open', { reserved1: 'x' });
    const payloads = [whole.subarray(0, 4), whole.subarray(0, 5), Buffer.concat([whole, whole])];
    expect(await answers(2, payloads)).toEqual(payloads.map((payload) => undecodable(whole, payload)));
    for (const channel of [0, 1, 2]) {
      for (const close of await answers(
        channel,
        [0, 1, 2, 3].map((length) => whole.subarray(0, length)),
      )) {
        expect(close).toMatch(/^connection\.close 501 FRAME_ERROR - type 1, all octets = .*: unknown_frame \(0\.0\)$/);
      }
    }
    expect(faults).toEqual([]);
  });

  it('no wrong byte of any method is a fault of ours', async () => {
    for (const { name, channel, whole } of cases) {
      const payloads = Array.from({ length: whole.length - 4 }, (_, at) => {
        const wrong = Buffer.from(whole);
        wrong[4 + at] = 0xff;
        return wrong;
      });
      for (const outcome of await answers(channel, payloads)) expect(outcome, name).toMatch(/^[a-z]+\.[a-z-]+/);
    }
    expect(faults).toEqual([]);
  }, 30_000);
});
