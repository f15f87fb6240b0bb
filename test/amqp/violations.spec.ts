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

const publish = writeMethod('basic.publish', { exchange: '', key: 'nobody' });
const header = (size: number, ...rest: readonly number[]): Buffer =>
  Buffer.concat([writeContentHeader({}, size).subarray(0, 12), Buffer.from(rest)]);
const plain = header(5, 0, 0);
const text = (value: string): Buffer => Buffer.from(value);
const method = (classId: number, methodId: number, ...args: readonly number[]): Buffer =>
  Buffer.from([classId >> 8, classId, 0, methodId, ...args]);

type Frames = readonly (readonly [type: number, channel: number, payload: Buffer])[];
const syntax = 'FRAME_ERROR - ';
const unexpected = 'UNEXPECTED_FRAME - ';

/** Frames on an open channel 1, and what closes the connection. */
const cases: readonly (readonly [name: string, frames: Frames, code: number, text: string, at: string])[] = [
  [
    'an unknown type',
    [[4, 1, Buffer.from([1, 2])]],
    501,
    `${syntax}type 4, all octets = <<1,2>>: unknown_frame`,
    '0.0',
  ],
  [
    'an unknown type, in text',
    [[9, 1, text('hi')]],
    501,
    `${syntax}type 9, all octets = <<"hi">>: unknown_frame`,
    '0.0',
  ],
  ['a heartbeat of a channel', [[8, 1, text('')]], 505, `${unexpected}type 8, all octets = <<>>`, '0.0'],
  [
    'a heartbeat that says something',
    [[8, 0, text('a')]],
    501,
    `${syntax}type 8, all octets = <<"a">>: unknown_frame`,
    '0.0',
  ],
  [
    'a method without its ids',
    [[1, 1, Buffer.from([0, 60])]],
    501,
    `${syntax}type 1, all octets = <<0,60>>: unknown_frame`,
    '0.0',
  ],
  ['too few arguments', [[1, 1, method(50, 10, 0, 0)]], 501, `${syntax}cannot decode <<0,0>>`, '50.10'],
  [
    'too many arguments',
    [[1, 1, method(60, 90, 0, 0, 0, 0, 0, 0, 0, 1, 0, 7)]],
    501,
    `${syntax}cannot decode <<0,0,0,0,0,0,0,1,0,7>>`,
    '60.90',
  ],
  [
    'a name that is no UTF-8',
    [[1, 1, method(50, 10, 0, 0, 2, 255, 97, 8, 0, 0, 0, 0)]],
    501,
    `${syntax}Malformed UTF-8 in shortstr`,
    '0.0',
  ],
  [
    'a method of servers',
    [[1, 1, method(50, 11, 1, 97, 0, 0, 0, 0, 0, 0, 0, 0)]],
    503,
    'COMMAND_INVALID - unimplemented method',
    '50.11',
  ],
  [
    'a method of connections',
    [[1, 1, method(10, 40, 1, 47, 0, 0)]],
    503,
    'COMMAND_INVALID - unimplemented method',
    '10.40',
  ],
  ['an unasked close-ok', [[1, 1, method(20, 41)]], 503, 'COMMAND_INVALID - unimplemented method', '20.41'],
  [
    'a close of what is not open',
    [[1, 3, method(20, 40, 0, 200, 0, 0, 0, 0, 0)]],
    504,
    "CHANNEL_ERROR - expected 'channel.open'",
    '20.40',
  ],
  ['a content frame on channel 0', [[3, 0, text('x')]], 505, `${unexpected}type 3, all octets = <<"x">>`, '0.0'],
  [
    'a second connection.open',
    [[1, 0, method(10, 40, 1, 47, 0, 0)]],
    504,
    'CHANNEL_ERROR - unexpected method in connection state running',
    '10.40',
  ],
  [
    'a method where a body is due',
    [
      [1, 1, publish],
      [2, 1, plain],
      [1, 1, publish],
    ],
    505,
    `${unexpected}expected content body, got non content body frame instead`,
    '60.40',
  ],
  [
    'a header where a body is due',
    [
      [1, 1, publish],
      [2, 1, plain],
      [2, 1, plain],
    ],
    505,
    `${unexpected}expected content body, got non content body frame instead`,
    '60.40',
  ],
  [
    'a header with a weight',
    [
      [1, 1, publish],
      [2, 1, Buffer.from([0, 60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ],
    505,
    `${unexpected}expected content header for class 60, got non content header frame instead`,
    '60.40',
  ],
  [
    'a header that is too short',
    [
      [1, 1, publish],
      [2, 1, Buffer.from([0, 60])],
    ],
    501,
    `${syntax}type 2, all octets = <<0,60>>: unknown_frame`,
    '0.0',
  ],
  [
    'properties that are not there',
    [
      [1, 1, publish],
      [2, 1, header(0, 0x80, 0)],
    ],
    541,
    'INTERNAL_ERROR',
    '0.0',
  ],
  [
    'properties without an announced message',
    [
      [1, 1, publish],
      [2, 1, header(0, 0, 0, 1)],
    ],
    541,
    'INTERNAL_ERROR',
    '0.0',
  ],
  ['a flow that stops', [[1, 1, method(20, 20, 0)]], 540, 'NOT_IMPLEMENTED - active=false', '20.20'],
];

describe('frames that break the rules end the connection as they do on RabbitMQ (rules T4, T5)', () => {
  it.each(cases)('%s', async (_, frames, code, message, at) => {
    for (const wire of real === undefined ? [harness.wire] : [harness.wire, real]) {
      const connection = await WireConnection.open(wire);
      await connection.openChannel();
      for (const frame of frames) connection.frame(...frame);
      const end = await attempt(Promise.reject(await connection.ended));
      expect(end).toEqual({ code, text: message, at, closes: 'connection' });
    }
  });
});
