import { describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { emptyTable, type Field, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { type Message, RecordedDeaths, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { ByteSink, ByteSource } from '../../libs/dlx-broker/src/store/log/bytes.js';
import { writeDeaths, writeHeaders } from '../../libs/dlx-broker/src/store/log/death-codec.js';
import { readEnvelope } from '../../libs/dlx-broker/src/store/log/envelope.js';
import { lent } from '../durability/harness.js';
import { listen } from '../harnesses/listener.js';

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

/** As format 2 wrote it: without a recorded origin, and with the deaths among the headers. */
function asBefore({ exchange, routingKey, own: { headers, deliveryMode }, deaths }: Message) {
  const sink = new ByteSink(256);
  sink.octet(1); // a death brought it here
  sink.text(exchange);
  sink.text(routingKey);
  sink.varint((1 << 10) | (1 << 11));
  if (deaths instanceof RecordedDeaths) {
    sink.octet(headers === undefined ? 1 : 2);
    if (headers !== undefined) writeHeaders(sink, headers);
    const records = new ByteSink(256);
    writeDeaths(records, deaths);
    sink.raw(records.bytes.subarray(1, records.at));
  } else {
    writeHeaders(sink, headers ?? emptyTable);
  }
  sink.octet(deliveryMode ?? 0);
  const source = new ByteSource(sink.bytes.subarray(0, sink.at));
  const envelope = readEnvelope(source);
  expect(source.at).toBe(sink.at);
  return envelope;
}

describe('the origin of a dead letter that an older version stored', () => {
  it.each(
    Object.entries(forgeries).flatMap(([what, headers]) =>
      ([1, 2] as const).map((deaths) => ({ what, headers, deaths })),
    ),
  )('is never what its publisher made up: $what, $deaths deaths', ({ what, headers, deaths }) => {
    const message = dead(headers, deaths);
    expect(message.origin).toMatchObject({ exchange: '', routingKey: 'low' });
    const { own, notes } = asBefore(message);
    expect(own.deliveryMode).toBe(2);
    expect(notes?.properties(own).headers).toEqual(message.properties.headers);
    const origin = notes?.origin;
    if (what === 'nothing') expect(origin).toEqual({ exchange: '', routingKey: 'low', queue: 'low' });
    if (origin !== undefined) expect(origin).toMatchObject({ exchange: '', routingKey: 'low' });
  });
});
