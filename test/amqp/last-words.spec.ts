import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeFrame } from '../contract/wire/frames.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { type AmqpHouse, amqpHouse } from './harness.js';
import { heard, say } from './heard.js';

let harness: AmqpHouse;
beforeAll(async () => void (harness = await amqpHouse()));
afterAll(() => harness.close());

const real = process.env['AMQP_URL'];
const ports = (): number[] => [harness.port, ...(real === undefined ? [] : [Number(new URL(real).port) || 5672])];

const publish = (exchange: string, mandatory = false): Buffer =>
  Buffer.concat([
    say(1, 'basic.publish', { exchange, key: 'nobody', mandatory }),
    writeFrame(2, 1, writeContentHeader({}, 1)),
    writeFrame(3, 1, Buffer.from('x')),
  ]);

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
