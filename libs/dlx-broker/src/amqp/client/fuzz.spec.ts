import { expect, it } from 'vitest';
import { Mutator } from '../../../../../test/amqp/mutator.js';
import { recorded } from '../../../../../test/harnesses/linked-client.js';
import { everyField } from '../../../../../test/amqp/frame-corpus.js';
import { writeTable } from '../../engine/message/index.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { BufferPool, frameTypes, FrameWriter, methods, writeProperties } from '../wire/index.js';
import { openPublisher } from './publisher.js';
import type { Transport, TransportEvents } from './transport.js';

const inputs = Number(process.env['FUZZ_INPUTS'] ?? 3_000);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_122);

/** Frames of a server, one after the other. */
function framesOf(write: (to: FrameWriter) => void): Buffer {
  const pieces: Buffer[] = [];
  const to = new FrameWriter(new BufferPool(), {
    write: (bytes) => pieces.push(Buffer.from(bytes)),
    requestFlush: () => undefined,
  });
  to.maxPayload = 100_000;
  write(to);
  to.flush();
  return Buffer.concat(pieces);
}

function message(to: FrameWriter, channel: number): void {
  to.begin(frameTypes.header, channel);
  to.long(60 << 16);
  to.longlong(5);
  const properties = { contentType: 'text/plain', messageId: 'm', timestamp: 5 };
  writeProperties(to, properties, undefined, () => writeTable(to, everyField));
  to.end();
  to.body(channel, Buffer.from('hello'));
}

const handshake = framesOf((to) => {
  methods.writeConnectionStart(to, 0, 0, 9, everyField, 'PLAIN AMQPLAIN', 'en_US');
  methods.writeConnectionTune(to, 0, 100, 131_072, 10);
  methods.writeConnectionOpenOk(to, 0);
});
const opening = framesOf((to) => {
  methods.writeChannelOpenOk(to, 1);
  methods.writeBasicConsumeOk(to, 1, 'c1');
  methods.writeChannelOpenOk(to, 2);
  methods.writeConfirmSelectOk(to, 2);
});
const corpus = [
  handshake,
  framesOf((to) => (methods.writeBasicDeliver(to, 1, 'c1', 1, false, 'x', 'k'), message(to, 1))),
  framesOf((to) => (methods.writeBasicReturn(to, 2, 312, 'NO_ROUTE', 'x', 'k'), message(to, 2))),
  framesOf((to) => methods.writeBasicAck(to, 2, 3, true)),
  framesOf((to) => methods.writeBasicNack(to, 2, 1, false, true)),
  framesOf((to) => (methods.writeBasicGetOk(to, 1, 1, false, 'x', 'k', 5), message(to, 1))),
  framesOf((to) => methods.writeBasicGetEmpty(to, 1)),
  framesOf((to) => methods.writeQueueDeclareOk(to, 1, 'q', 1, 2)),
  framesOf((to) => methods.writeBasicCancel(to, 1, 'c1', true)),
  framesOf((to) => methods.writeChannelFlow(to, 1, false)),
  framesOf((to) => methods.writeChannelClose(to, 1, 404, 'NOT_FOUND', 50, 10)),
  framesOf((to) => methods.writeConnectionBlocked(to, 0, 'low on memory')),
  framesOf((to) => methods.writeConnectionClose(to, 0, 320, 'CONNECTION_FORCED', 0, 0)),
];

/** Takes what the client writes, and says nothing. */
class Sink implements Transport {
  readonly waiting = 0;
  events!: TransportEvents;

  attach(events: TransportEvents): void {
    this.events = events;
  }

  write(_: Uint8Array, done?: () => void): void {
    done?.();
  }

  flush(): void {}

  end(): void {}

  destroy(): void {}
}

it(`mutated bytes of a server, cut anywhere, end the connection once or not at all (${inputs} inputs, seed ${seed})`, () => {
  const mutator = new Mutator(seed);
  const outcomes = { ended: 0, open: 0 };
  for (let count = 0; count < inputs; count++) {
    const sink = new Sink();
    const clock = new ManualClock();
    const turns: (() => void)[] = [];
    const { connection, events, faults } = recorded(sink, { clock, later: (act) => void turns.push(act) });
    const failures: string[] = [];
    const note = (name: string) => (): void => void failures.push(name);
    if (count % 4 > 0) {
      sink.events.received(Buffer.from(handshake));
      const channel = connection.openChannel({ closed: note('channel') });
      channel.consume(
        'q',
        {},
        { delivered: ({ properties }) => void properties.headers?.size, cancelled: () => undefined },
        () => undefined,
      );
      const publisher = openPublisher(connection, { closed: note('publisher') });
      sink.events.received(Buffer.from(opening));
      for (const name of ['1', '2', '3'])
        publisher.publish('x', 'k', { messageId: 'm' }, Buffer.from('hello'), true, note(name));
      channel.get('q', {}, note('get'));
      channel.declareQueue('q', {}, note('declare'));
      expect(events).toEqual(['opened ']);
    }
    const input = mutator.mutate(corpus);
    for (const piece of mutator.cut(input)) sink.events.received(piece);
    turns.splice(0).forEach((act) => act());
    const isEnded = events.some((event) => event.startsWith('Conn'));
    outcomes[isEnded ? 'ended' : 'open'] += 1;
    sink.events.closed();
    const ends = events.filter((event) => event.startsWith('Conn'));
    if (ends.length !== 1 || faults.length > 0 || new Set(failures).size !== failures.length) {
      throw new Error(`input ${count}: ${input.toString('hex')}`, { cause: { events, faults, failures } });
    }
    if (count % 4 > 0)
      expect(failures.sort(), input.toString('hex')).toEqual(['1', '2', '3', 'channel', 'declare', 'get', 'publisher']);
    expect(clock.nextWakeUp()).toBeUndefined();
  }
  expect(outcomes.ended).toBeGreaterThan(inputs / 20);
  expect(outcomes.open).toBeGreaterThan(inputs / 20);
}, 60_000);
