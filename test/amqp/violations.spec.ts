import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attempt } from '../contract/contract.js';
import { WireConnection, type WireOptions } from '../contract/wire/connection.js';
import { writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { type AmqpHouse, amqpHouse } from './harness.js';

let harness: AmqpHouse;
beforeAll(async () => void (harness = await amqpHouse()));
afterAll(() => harness.close());

const url = process.env['AMQP_URL'];
const real: WireOptions | undefined =
  url === undefined
    ? undefined
    : {
        host: new URL(url).hostname,
        port: Number(new URL(url).port) || 5672,
        user: 'guest',
        password: 'guest',
        vhost: '/',
      };

type Frame = readonly [type: number, channel: number, payload: Buffer];
const publish: Frame = [1, 1, writeMethod('basic.publish', { exchange: '', key: 'unbound' })];
const header = (size: number, ...rest: readonly number[]): Frame => [
  2,
  1,
  Buffer.concat([writeContentHeader({}, size).subarray(0, 12), Buffer.from(rest)]),
];
const plain = header(5, 0, 0);
const bytes = (...all: readonly number[]): Buffer => Buffer.from(all);
const method = (classId: number, methodId: number, ...args: readonly number[]): Buffer =>
  bytes(classId >> 8, classId, 0, methodId, ...args);
const on1 = (...all: Parameters<typeof method>): Frame => [1, 1, method(...all)];
const unknown = (type: number, octets: string): string =>
  `501 FRAME_ERROR - type ${type}, all octets = ${octets}: unknown_frame`;
const unimplemented = '503 COMMAND_INVALID - unimplemented method';
const bodyExpected = '505 UNEXPECTED_FRAME - expected content body, got non content body frame instead';
const noHeader = '505 UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead';

/** Frames on an open channel 1, and what closes the connection. */
const cases: readonly (readonly [name: string, frames: readonly Frame[], text: string, at: string])[] = [
  ['an unknown type', [[4, 1, bytes(1, 2)]], unknown(4, '<<1,2>>'), '0.0'],
  ['an unknown type, in text', [[9, 1, Buffer.from('hi')]], unknown(9, '<<"hi">>'), '0.0'],
  ['a heartbeat of a channel', [[8, 1, bytes()]], '505 UNEXPECTED_FRAME - type 8, all octets = <<>>', '0.0'],
  ['a heartbeat that says something', [[8, 0, Buffer.from('a')]], unknown(8, '<<"a">>'), '0.0'],
  ['a method without its ids', [[1, 1, bytes(0, 60)]], unknown(1, '<<0,60>>'), '0.0'],
  ['too few arguments', [on1(50, 10, 0, 0)], '501 FRAME_ERROR - cannot decode <<0,0>>', '50.10'],
  [
    'too many arguments',
    [on1(60, 90, 0, 0, 0, 0, 0, 0, 0, 1, 0, 7)],
    '501 FRAME_ERROR - cannot decode <<0,0,0,0,0,0,0,1,0,7>>',
    '60.90',
  ],
  [
    'a name that is no UTF-8',
    [on1(50, 10, 0, 0, 2, 255, 97, 8, 0, 0, 0, 0)],
    '501 FRAME_ERROR - Malformed UTF-8 in shortstr',
    '0.0',
  ],
  ['a method of servers', [on1(50, 11, 1, 97, 0, 0, 0, 0, 0, 0, 0, 0)], unimplemented, '50.11'],
  ['a method of connections', [on1(10, 40, 1, 47, 0, 0)], unimplemented, '10.40'],
  ['an unasked close-ok', [on1(20, 41)], unimplemented, '20.41'],
  [
    'a close of what is not open',
    [[1, 3, method(20, 40, 0, 200, 0, 0, 0, 0, 0)]],
    "504 CHANNEL_ERROR - expected 'channel.open'",
    '20.40',
  ],
  [
    'a content frame on channel 0',
    [[3, 0, Buffer.from('x')]],
    '505 UNEXPECTED_FRAME - type 3, all octets = <<"x">>',
    '0.0',
  ],
  [
    'a second connection.open',
    [[1, 0, method(10, 40, 1, 47, 0, 0)]],
    '504 CHANNEL_ERROR - unexpected method in connection state running',
    '10.40',
  ],
  ['a method where a body is due', [publish, plain, publish], bodyExpected, '60.40'],
  ['a header where a body is due', [publish, plain, plain], bodyExpected, '60.40'],
  ['a header with a weight', [publish, [2, 1, bytes(0, 60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)]], noHeader, '60.40'],
  ['a header that is too short', [publish, [2, 1, bytes(0, 60)]], unknown(2, '<<0,60>>'), '0.0'],
  ['properties that are not there', [publish, header(0, 0x80, 0)], '541 INTERNAL_ERROR', '0.0'],
  ['properties without an announced message', [publish, header(0, 0, 0, 1)], '541 INTERNAL_ERROR', '0.0'],
  ['a flow that stops', [on1(20, 20, 0)], '540 NOT_IMPLEMENTED - active=false', '20.20'],
];

describe('frames that break the rules end the connection as they do on RabbitMQ (rules T4, T5)', () => {
  it.each(cases)('%s', async (_, frames, text, at) => {
    for (const wire of real === undefined ? [harness.wire] : [harness.wire, real]) {
      const connection = await WireConnection.open(wire);
      await connection.openChannel();
      for (const frame of frames) connection.frame(...frame);
      const end = await attempt(Promise.reject(await connection.ended));
      expect(end).toEqual({ code: Number(text.slice(0, 3)), text: text.slice(4), at, closes: 'connection' });
    }
  });
});
