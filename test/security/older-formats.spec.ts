import { describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/broker/index.js';
import { int32, type Field, longstr, type Message, table } from '../../libs/dlx-broker/src/message/index.js';
import { ByteSink } from '../../libs/dlx-broker/src/store/log/byte-sink.js';
import { ByteSource } from '../../libs/dlx-broker/src/store/log/byte-source.js';
import { readEnvelope, writeEnvelope } from '../../libs/dlx-broker/src/store/log/envelope.js';
import { listen } from '../../libs/dlx-broker/src/testing/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/testing/manual-clock.js';
import { lent } from '../durability/house.js';

const target = 'admin.commands';
const list = (...value: Field[]): Field => ({ type: 'A', value });
const death = (more: readonly (readonly [string, Field])[] = []): Field =>
  table(
    new Map<string, Field>([
      ['queue', longstr(target)],
      ['reason', longstr('rejected')],
      ['exchange', longstr('')],
      ['routing-keys', list(longstr(target))],
      ['count', { type: 'l', value: 1 }],
      ['time', { type: 'T', value: 1_700_000_000 }],
      ...more,
    ]),
  );
const firstDeath: readonly (readonly [string, Field])[] = [
  ['x-first-death-reason', longstr('rejected')],
  ['x-first-death-queue', longstr(target)],
  ['x-first-death-exchange', longstr('')],
];
const ours: readonly (readonly [string, Field])[] = [
  ['dlx-first-exchange', longstr('')],
  ['dlx-first-routing-key', longstr(target)],
  ['dlx-queue', longstr(target)],
];

const forgeries: Readonly<Record<string, readonly (readonly [string, Field])[]>> = {
  nothing: [],
  'headers of our own': ours,
  'an x-death': [['x-death', list(death())]],
  'an x-death of the queue it will die in': [
    [
      'x-death',
      list(
        death([
          ['queue', longstr('low')],
          ['reason', longstr('expired')],
        ]),
      ),
    ],
  ],
  'an empty x-death': [['x-death', list()]],
  'an x-death of another type': [['x-death', longstr(target)]],
  'headers of a first death': firstDeath,
  'all of them': [...ours, ...firstDeath, ['x-death', list(death())]],
};

/** The message in `dead` after it was published with these headers and died so often. */
function dead(headers: readonly (readonly [string, Field])[], deaths: 1 | 2): Message {
  const clock = new ManualClock();
  const { channel } = listen(new Broker(lent(clock)));
  const to = (key: string, ttl: number): Map<string, Field> =>
    new Map<string, Field>([
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr(key)],
      ['x-message-ttl', int32(ttl)],
    ]);
  channel.declareQueue('dead', { durable: true });
  channel.declareQueue('between', { durable: true, arguments: to('dead', 100) });
  channel.declareQueue('low', { durable: true, arguments: to(deaths === 1 ? 'dead' : 'between', 100) });
  channel.publish('', 'low', { deliveryMode: 2, headers: new Map(headers) }, Buffer.from('m'));
  clock.advance(1_000);
  const got = channel.get('dead');
  if (got === undefined) throw new TypeError('it did not arrive');
  return got.message;
}

/** As a version before format 3 wrote it: without a recorded origin. */
function asBefore(message: Message) {
  const sink = new ByteSink(256);
  writeEnvelope(sink, message);
  const bytes = sink.bytes.subarray(0, sink.at);
  bytes[0] = (bytes[0] as number) & 3;
  return readEnvelope(new ByteSource(bytes));
}

describe('the origin of a dead letter that an older version stored', () => {
  it.each(
    Object.entries(forgeries).flatMap(([what, headers]) =>
      ([1, 2] as const).map((deaths) => ({ what, headers, deaths })),
    ),
  )('is never what its publisher made up: $what, $deaths deaths', ({ what, headers, deaths }) => {
    const message = dead(headers, deaths);
    expect(message.origin).toMatchObject({ exchange: '', routingKey: 'low' });
    const { origin } = asBefore(message);
    if (what === 'nothing') expect(origin).toEqual({ exchange: '', routingKey: 'low', queue: 'low' });
    if (origin !== undefined) expect(origin).toMatchObject({ exchange: '', routingKey: 'low' });
  });
});
