import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RawPeer } from '../contract/wire/raw-peer.js';
import { writeFrame } from '../contract/wire/frames.js';
import { type Arguments, readMethod, writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { type AmqpHouse, amqpHouse } from './harness.js';

let harness: AmqpHouse;
beforeAll(async () => void (harness = await amqpHouse()));
afterAll(() => harness.close());

const real = process.env['AMQP_URL'];
const ports = (): number[] => [harness.port, ...(real === undefined ? [] : [Number(new URL(real).port) || 5672])];

const say = (channel: number, name: string, args: Arguments = {}): Buffer =>
  writeFrame(1, channel, writeMethod(name, args));
const publish = (exchange: string, mandatory = false): Buffer =>
  Buffer.concat([
    say(1, 'basic.publish', { exchange, key: 'nobody', mandatory }),
    writeFrame(2, 1, writeContentHeader({}, 1)),
    writeFrame(3, 1, Buffer.from('x')),
  ]);

/** Sends all of it in one write. @returns what comes until a method of this kind; default: a close of the broker */
async function heard(port: number, frames: readonly Buffer[], confirms: boolean, end = '.close'): Promise<string[]> {
  const peer = await RawPeer.connect('127.0.0.1', port);
  const next = async () => readMethod((await peer.next()).payload);
  peer.send(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]));
  await next();
  peer.send(say(0, 'connection.start-ok', { mechanism: 'PLAIN', response: '\0guest\0guest', locale: 'en_US' }));
  await next();
  peer.send(say(0, 'connection.tune-ok', { channelMax: 10, frameMax: 131_072, heartbeat: 0 }));
  for (const [channel, name, args] of [
    [0, 'connection.open', { vhost: '/' }],
    [1, 'channel.open', {}],
    ...(confirms ? ([[1, 'confirm.select', {}]] as const) : []),
  ] as const) {
    peer.send(say(channel, name, args));
    await next();
  }
  peer.send(Buffer.concat(frames));
  const log: string[] = [];
  for (let last = ''; !last.endsWith(end);) {
    const frame = await peer.next();
    if (frame.type !== 1) continue;
    const { name, args } = readMethod(frame.payload);
    log.push([name, args['code'] ?? args['deliveryTag'] ?? ''].join(' ').trim());
    last = name;
  }
  peer.socket.destroy();
  return log;
}

const unroutable = publish('', true);
const missing = publish('missing');

describe('returns and confirms of publishes are sent before the error that follows them in the same write (rule Q9)', () => {
  it.each<[string, boolean, readonly Buffer[], readonly string[]]>([
    ['a return before a soft error', false, [unroutable, missing], ['basic.return 312', 'channel.close 404']],
    [
      'a return and its ack before a soft error',
      true,
      [unroutable, missing],
      ['basic.return 312', 'basic.ack 1', 'channel.close 404'],
    ],
    [
      'a return before the error of another method',
      false,
      [unroutable, say(1, 'basic.ack', { deliveryTag: 9 })],
      ['basic.return 312', 'channel.close 406'],
    ],
    [
      'a return and its ack before a hard error',
      true,
      [unroutable, say(1, 'channel.open')],
      ['basic.return 312', 'basic.ack 1', 'connection.close 504'],
    ],
  ])('%s', async (_, confirms, frames, expected) => {
    for (const port of ports()) expect(await heard(port, frames, confirms)).toEqual(expected);
  });

  it('and a close that crosses the one of the broker is answered behind it', async () => {
    const frames = [missing, say(1, 'channel.close', { code: 200 })];
    for (const port of ports()) {
      expect(await heard(port, frames, false, 'close-ok')).toEqual(['channel.close 404', 'channel.close-ok']);
    }
  });
});
