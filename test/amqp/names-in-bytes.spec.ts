import { describe, expect, it } from 'vitest';
import { writeFrame } from '../contract/wire/frames.js';
import { readMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { Brokers } from './brokers.js';
import { Talk } from './talk.js';

const brokers = new Brokers();

const short = (bytes: Buffer | string): Buffer => Buffer.concat([Buffer.from([bytes.length]), Buffer.from(bytes)]);
const zeros = (count: number): Buffer => Buffer.alloc(count);
const method = (classId: number, methodId: number, ...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([0, classId, 0, methodId]), ...parts]);

/** Bytes that are no UTF-8: a byte that begins nothing, and the beginning of a character without its end. */
const names = [1, 127, 128, 254].flatMap((length) => [Buffer.alloc(length, 0xff), Buffer.alloc(length, 0xe4)]);
const mandatory = Buffer.from([1]);
const content = writeContentHeader({}, 0);

/** Methods with such a name. */
const refused: readonly (readonly [name: string, payload: (bytes: Buffer) => Buffer])[] = [
  ['queue.declare', (bytes) => method(50, 10, zeros(2), short(bytes), Buffer.from([8]), zeros(4))],
  ['queue.declare, passive', (bytes) => method(50, 10, zeros(2), short(bytes), Buffer.from([1]), zeros(4))],
  ['queue.bind', (bytes) => method(50, 20, zeros(2), short(''), short('amq.topic'), short(bytes), zeros(1), zeros(4))],
  ['queue.unbind', (bytes) => method(50, 50, zeros(2), short(''), short('amq.topic'), short(bytes), zeros(4))],
  ['queue.purge', (bytes) => method(50, 30, zeros(2), short(bytes), zeros(1))],
  ['queue.delete', (bytes) => method(50, 40, zeros(2), short(bytes), zeros(1))],
  ['exchange.declare', (bytes) => method(40, 10, zeros(2), short(bytes), short('direct'), zeros(1), zeros(4))],
  ['exchange.delete', (bytes) => method(40, 20, zeros(2), short(bytes), zeros(1))],
  [
    'exchange.bind',
    (bytes) => method(40, 30, zeros(2), short('amq.topic'), short('amq.direct'), short(bytes), zeros(1), zeros(4)),
  ],
  ['basic.consume', (bytes) => method(60, 20, zeros(2), short(''), short(bytes), zeros(1), zeros(4))],
  ['basic.cancel', (bytes) => method(60, 30, short(bytes), zeros(1))],
  ['basic.get', (bytes) => method(60, 70, zeros(2), short(bytes), zeros(1))],
];

describe('a name that is no UTF-8', () => {
  it.each(refused)('ends the connection in %s (501)', async (_, payload) => {
    for (const wire of brokers.all) {
      for (const bytes of [Buffer.from([0xe4]), Buffer.alloc(200, 0xff)]) {
        const talk = await Talk.open(wire);
        talk.say(1, 'queue.declare', { queue: '', exclusive: true });
        await talk.method();
        talk.peer.send(writeFrame(1, 1, payload(bytes)));
        const { name, args } = await talk.method();
        talk.peer.socket.destroy();
        expect([name, args['code'], args['text']]).toEqual([
          'connection.close',
          501,
          'FRAME_ERROR - Malformed UTF-8 in shortstr',
        ]);
      }
    }
  });

  it('is a routing key in basic.publish, and comes back byte for byte', async () => {
    for (const wire of brokers.all) {
      const talk = await Talk.open(wire);
      talk.say(1, 'queue.declare', { queue: '', exclusive: true });
      const queue = (await talk.method()).args['queue'] as string;
      talk.say(1, 'queue.bind', { queue, exchange: 'amq.fanout', key: '' });
      await talk.method();
      for (const bytes of names) {
        const publish = (exchange: string): Buffer =>
          Buffer.concat([
            writeFrame(1, 1, method(60, 40, zeros(2), short(exchange), short(bytes), mandatory)),
            writeFrame(2, 1, content),
          ]);
        talk.peer.send(publish('')); // no queue can have such a name
        const returned = (await talk.frame()).payload;
        expect(readMethod(returned).name).toBe('basic.return');
        expect(returned.subarray(-bytes.length - 1)).toEqual(short(bytes));
        expect((await talk.frame()).type).toBe(2);

        talk.peer.send(publish('amq.fanout'));
        talk.say(1, 'basic.get', { queue, noAck: true });
        const got = (await talk.frame()).payload;
        expect(readMethod(got).name).toBe('basic.get-ok');
        expect(got.subarray(-bytes.length - 5, -4)).toEqual(short(bytes));
        expect((await talk.frame()).type).toBe(2);
      }
      talk.peer.socket.destroy();
    }
  });

  it('is an exchange that does not exist in basic.publish (404)', async () => {
    for (const wire of brokers.all) {
      for (const bytes of names) {
        const talk = await Talk.open(wire);
        talk.peer.send(writeFrame(1, 1, method(60, 40, zeros(2), short(bytes), short('key'), mandatory)));
        talk.peer.send(writeFrame(2, 1, content));
        const { payload } = await talk.frame();
        talk.peer.socket.destroy();
        expect(readMethod(payload)).toMatchObject({ name: 'channel.close', args: { code: 404 } });
        const text = Buffer.concat([Buffer.from("NOT_FOUND - no exchange '"), bytes, Buffer.from("' in vhost '/'")]);
        const cut = text.length > 255 ? Buffer.concat([text.subarray(0, 252), Buffer.from('...')]) : text;
        expect(payload.subarray(6)).toEqual(Buffer.concat([short(cut), Buffer.from([0, 60, 0, 40])]));
      }
    }
  });
});
