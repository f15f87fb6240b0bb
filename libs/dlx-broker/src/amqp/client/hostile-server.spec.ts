import { describe, expect, it } from 'vitest';
import { noting, recorded } from '../../../../../test/harnesses/linked-client.js';
import { bool, type FieldTable, longstr, table } from '../../engine/message/index.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { BufferPool, frameTypes, FrameWriter, methods } from '../wire/index.js';
import type { ConnectionOptions } from './handshake.js';
import { openPublisher } from './publisher.js';
import { DialError, type Transport, type TransportEvents } from './transport.js';

const properties: FieldTable = new Map([
  ['product', longstr('Fake')],
  ['capabilities', table(new Map([['basic.nack', bool(true)]]))],
]);

/** A server that says whatever a test wants. */
class FakeServer implements Transport {
  waiting = 0;
  isEnded = false;
  events!: TransportEvents;
  readonly #to: FrameWriter;

  constructor() {
    this.#to = new FrameWriter(new BufferPool(), {
      write: (bytes) => this.events.received(Buffer.from(bytes)),
      requestFlush: () => undefined,
    });
  }

  attach(events: TransportEvents): void {
    this.events = events;
  }

  /** What the client wrote. */
  readonly written: Buffer[] = [];

  write(bytes: Uint8Array, done?: () => void): void {
    this.written.push(Buffer.from(bytes));
    done?.();
  }

  flush(): void {}

  end(): void {
    this.isEnded = true;
  }

  destroy(): void {
    this.isEnded = true;
  }

  says(write: (to: FrameWriter) => void): void {
    write(this.#to);
    this.#to.flush();
  }

  /** All of a handshake. */
  opens(): void {
    this.says((to) => {
      methods.writeConnectionStart(to, 0, 0, 9, properties, 'PLAIN', 'en_US');
      methods.writeConnectionTune(to, 0, 100, 131_072, 0);
      methods.writeConnectionOpenOk(to, 0);
    });
  }
}

function connecting(options: Partial<ConnectionOptions> = {}) {
  const server = new FakeServer();
  const clock = new ManualClock();
  const turns: (() => void)[] = [];
  const client = recorded(server, { clock, later: (act) => void turns.push(act) }, options);
  const turn = (): void => turns.splice(0).forEach((act) => act());
  return { server, clock, turn, ...client };
}

/** A connection with a channel that has a consumer, and a publisher on channel 2. */
function opened(options: Partial<ConnectionOptions> = {}) {
  const found = connecting(options);
  const { server, connection } = found;
  server.opens();
  const seen: string[] = [];
  const bodies: number[] = [];
  const channel = connection.openChannel({ closed: noting(seen, 'closed') });
  const consumer = {
    delivered: ({ body }: { body: Buffer }) => void bodies.push(body.length),
    cancelled: () => undefined,
  };
  channel.consume('q', {}, consumer, () => undefined);
  const publisher = openPublisher(connection, { closed: noting(seen, 'publisher') });
  server.says((to) => {
    methods.writeChannelOpenOk(to, 1);
    methods.writeBasicConsumeOk(to, 1, 'c1');
    methods.writeChannelOpenOk(to, 2);
    methods.writeConfirmSelectOk(to, 2);
  });
  expect(found.events).toEqual(['opened Fake']);
  return { ...found, channel, publisher, seen, bodies };
}

/** A content header. */
function header(to: FrameWriter, channel: number, size: number | bigint, flags = 0): void {
  to.begin(frameTypes.header, channel);
  to.long(60 << 16);
  to.longlong(size);
  to.short(flags);
  to.end();
}

/** Confirms one message of the publisher. */
const confirm = (to: FrameWriter, tag: number): void => methods.writeBasicAck(to, 2, tag, false);

it('a server that offers EXTERNAL gets a login without a response: it takes the user from the certificate', () => {
  const { server, turn, events } = connecting({ credentials: { mechanism: 'EXTERNAL' } });
  server.says((to) => methods.writeConnectionStart(to, 0, 0, 9, properties, 'PLAIN EXTERNAL', 'en_US'));
  turn();
  const mechanism = Buffer.from('\u0008EXTERNAL\0\0\0\0\u0005en_US'); // its name, an empty response, the locale
  expect(Buffer.concat(server.written).includes(mechanism)).toBe(true);
  server.says((to) => {
    methods.writeConnectionTune(to, 0, 100, 131_072, 0);
    methods.writeConnectionOpenOk(to, 0);
  });
  expect(events).toEqual(['opened Fake']);
});

describe('what is no server of AMQP 0-9-1', () => {
  it.each([
    [
      'an HTTP server',
      Buffer.from('HTTP/1.1 400 Bad Request\r\n'),
      'it answers "HTTP/1.1 400 Bad Request": name its port for AMQP, not that for HTTP',
    ],
    ['a server of another version', Buffer.from('AMQP\0\0\x09\x01'), 'it answers with version 0-0-9-1'],
    ['a port with TLS', Buffer.from([0x15, 3, 3, 0, 2, 2, 22]), 'it answers as a port with TLS does: use amqps'],
  ])('%s is named', (_, bytes, text) => {
    const { server, events } = connecting();
    server.events.received(bytes);
    expect(events).toEqual([
      `ConnectionFailedError (not AMQP): cannot connect to server:5672 (virtual host '/'): the server does not speak AMQP 0-9-1: ${text}`,
    ]);
    expect(server.isEnded).toBe(true);
  });

  it('a server without limits is taken at its word', () => {
    const { server, connection, events } = connecting({ channelMax: 0, frameMax: 0, heartbeat: 0 });
    server.says((to) => {
      methods.writeConnectionStart(to, 0, 0, 9, properties, 'PLAIN', 'en_US');
      methods.writeConnectionTune(to, 0, 0, 0, 0);
      methods.writeConnectionOpenOk(to, 0);
    });
    expect(events).toEqual(['opened Fake']);
    expect(connection.openChannel({ closed: () => undefined }).number).toBe(1);
  });

  it('a server of AMQP 0-8 is named', () => {
    const { server, events } = connecting();
    server.says((to) => methods.writeConnectionStart(to, 0, 8, 0, properties, 'PLAIN', 'en_US'));
    expect(events[0]).toContain('the server speaks AMQP 8-0, not 0-9-1');
  });

  it.each([
    [
      'closes the socket at once',
      () => undefined,
      undefined,
      'refused',
      'is this the port of AMQP, and with TLS or without?',
    ],
    [
      'closes it after the login',
      ({ server }: ReturnType<typeof connecting>) =>
        server.says((to) => methods.writeConnectionStart(to, 0, 0, 9, properties, 'PLAIN', 'en_US')),
      undefined,
      'credentials',
      "closed the socket after the login as user 'guest'",
    ],
    [
      'cannot be reached',
      () => undefined,
      new DialError('connect', 'connect ECONNREFUSED'),
      'unreachable',
      'ECONNREFUSED',
    ],
    ['fails with TLS', () => undefined, new DialError('tls', 'TLS failed: self-signed'), 'tls', 'self-signed'],
  ] as const)('a server that %s is named', (_, act, failure, reason, text) => {
    const found = connecting();
    act(found);
    found.server.events.closed(failure);
    expect(found.events).toHaveLength(1);
    expect(found.events[0]).toMatch(`ConnectionFailedError (${reason})`);
    expect(found.events[0]).toContain(text);
    expect(found.clock.nextWakeUp()).toBeUndefined();
  });
});

describe('a server that breaks the protocol ends the connection, once, with a clear error:', () => {
  const cases: readonly [string, (to: FrameWriter) => void, string][] = [
    [
      'a delivery without a consumer',
      (to) => methods.writeBasicDeliver(to, 1, 'other', 1, false, '', 'q'),
      "a delivery for consumer 'other', which is unknown",
    ],
    [
      'an answer to nothing',
      (to) => methods.writeQueuePurgeOk(to, 1, 5),
      'channel 1 got queue.purge-ok, which answers nothing',
    ],
    [
      'an answer of get to nothing',
      (to) => methods.writeBasicGetOk(to, 1, 1, false, '', '', 0),
      'channel 1 got basic.get-ok, which answers nothing',
    ],
    [
      'a frame for no channel',
      (to) => methods.writeBasicAck(to, 77, 1, false),
      'a frame for channel 77, which is not open',
    ],
    [
      'a confirm of what was not published',
      (to) => methods.writeBasicAck(to, 2, 1, false),
      'a confirm for message 1, which is not outstanding',
    ],
    [
      'a confirm of 2^63',
      (to) => methods.writeBasicAck(to, 2, 2n ** 63n, true),
      'a confirm for message 9223372036854776000',
    ],
    [
      'a method of clients',
      (to) => methods.writeBasicPublish(to, 1, '', '', false, false),
      'channel 1 got basic.publish, which answers nothing',
    ],
    ['an unknown method', (to) => (to.method(1, 0x00630063), to.end()), 'channel 1 got , which answers nothing'],
    ['a method that is cut', (to) => (to.method(1, 0x003c003c), to.end()), 'too short'],
    ['a body without a method', (to) => to.body(1, Buffer.from('x')), 'channel 1 got content that no method announced'],
    [
      'a body before its header',
      (to) => (methods.writeBasicDeliver(to, 1, 'c1', 1, false, '', 'q'), to.body(1, Buffer.from('x'))),
      'a content header was due, not type 3',
    ],
    [
      'a body that is longer than announced',
      (to) => (
        methods.writeBasicDeliver(to, 1, 'c1', 1, false, '', 'q'),
        header(to, 1, 1),
        to.body(1, Buffer.from('xy'))
      ),
      'a content body is longer than announced',
    ],
    [
      'a message of 2^60 bytes',
      (to) => (methods.writeBasicDeliver(to, 1, 'c1', 1, false, '', 'q'), header(to, 1, 2n ** 60n)),
      'bytes is larger than maxMessageSize, 536870912',
    ],
    [
      'start once more',
      (to) => methods.writeConnectionStart(to, 0, 0, 9, properties, '', ''),
      'method 10.10 is none for a connection',
    ],
    [
      'a frame above frame-max',
      (to) => (to.begin(3, 1), to.raw(Buffer.alloc(140_000), 0, 140_000), to.end()),
      'frame_too_large,140000,131064',
    ],
  ];

  it.each(cases)('%s', (_, write, text) => {
    const { server, events, seen, connection, faults } = opened();
    server.says(write);
    expect(events).toHaveLength(2);
    expect(events[1]).toMatch(
      'ConnectionClosedError (protocol): connection to server:5672 lost: the server broke the protocol: ',
    );
    expect(events[1]).toContain(text);
    expect(seen.map((line) => line.split(':')[0])).toEqual(['closed', 'publisher']);
    expect([connection.isOpen, server.isEnded, faults]).toEqual([false, true, []]);
    server.says(write);
    expect(events).toHaveLength(2);
  });

  it.each<[string, (to: FrameWriter) => void, string]>([
    [
      'an ack of all up to a tag that was not published yet',
      (to) => methods.writeBasicAck(to, 2, 4, true),
      'ConnectionClosedError',
    ],
    [
      'a nack of all up to a tag that was not published yet',
      (to) => methods.writeBasicNack(to, 2, 4, true, false),
      'ConnectionClosedError',
    ],
    ['a second ack of the same message', (to) => (confirm(to, 1), confirm(to, 1)), 'done'],
    ['an ack of tag 0 alone', (to) => confirm(to, 0), 'ConnectionClosedError'],
  ])('%s: no message counts as taken that the server did not confirm', (_, write, confirmed) => {
    const { server, publisher, seen, events } = opened();
    for (const key of ['a', 'b', 'c']) publisher.publish('', key, {}, Buffer.from('x'), true, noting(seen, key));
    server.says(write);
    expect(events[1]).toContain('a confirm for message');
    const outcomes = seen.filter((line) => /^[abc]:/.test(line)).map((line) => line.split(' ')[1]);
    const lost = 'ConnectionClosedError';
    expect(outcomes).toEqual([confirmed, lost, lost]);
  });

  it('a return after its confirm, and one of nothing that was published, change nothing', () => {
    const { server, publisher, seen, events, faults } = opened();
    const publish = (key: string): void => publisher.publish('', key, {}, Buffer.from('x'), true, noting(seen, key));
    const returns = (to: FrameWriter, key: string): void => {
      methods.writeBasicReturn(to, 2, 312, 'NO_ROUTE', '', key);
      header(to, 2, 1);
      to.body(2, Buffer.from('x'));
    };
    publish('a');
    publish('b');
    server.says((to) => (confirm(to, 1), returns(to, 'a'), returns(to, 'none'), returns(to, 'a'), confirm(to, 2)));
    expect([seen, events, faults]).toEqual([['a: done', 'b: done'], ['opened Fake'], []]);
  });

  it('a storm of nacks of all that is outstanding refuses each message once', () => {
    const { server, publisher, seen, events } = opened();
    for (let n = 0; n < 100; n++) publisher.publish('', `${n}`, {}, Buffer.from('x'), true, noting(seen, `${n}`));
    server.says((to) => {
      for (let times = 0; times < 1_000; times++) methods.writeBasicNack(to, 2, times % 2 === 0 ? 0 : 50, true, false);
    });
    expect(seen).toHaveLength(100);
    expect(seen.every((line) => line.includes('NackedError'))).toBe(true);
    expect([publisher.outstanding, events]).toEqual([0, ['opened Fake']]);
  });

  it('garbage in place of a frame', () => {
    const { server, events } = opened();
    server.events.received(Buffer.from('garbage garbage garbage garbage garbage'));
    expect(events[1]).toContain('FRAME_ERROR');
  });

  it('a handshake out of turn, cut, or with a table of an unknown type', () => {
    for (const [write, text] of [
      [(to: FrameWriter) => methods.writeConnectionTune(to, 0, 1, 1, 1), 'a method out of turn'],
      [(to: FrameWriter) => (to.method(0, 0x000a000a), to.short(9), to.end()), 'too short'],
      [
        (to: FrameWriter) => (
          to.method(0, 0x000a000a),
          to.short(9),
          to.long(3),
          to.octet(1),
          to.short(0x615a),
          to.end()
        ),
        'field type 90 is unknown',
      ],
    ] as const) {
      const { server, events } = connecting();
      server.says(write);
      expect(events).toHaveLength(1);
      expect(events[0]).toContain(text);
    }
  });
});

describe('a server that never ends', () => {
  it('half a frame is kept as it came, and no more: what was announced costs nothing', () => {
    const { server, events } = opened();
    const before = process.memoryUsage().arrayBuffers;
    const head = Buffer.from([2, 0, 1, 0, 0xff, 0xff, 0xff]);
    for (const byte of head) server.events.received(Buffer.from([byte]));
    expect(events).toEqual(['opened Fake']);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  it('endless bodies end the connection when more than twice the largest message is unfinished', () => {
    const { server, events, connection, bodies } = opened({ maxMessageSize: 1_000_000 });
    const consumers = [1];
    for (let count = 0; count < 3; count++) {
      const channel = connection.openChannel({ closed: () => undefined });
      channel.consume('q', {}, { delivered: () => undefined, cancelled: () => undefined }, () => undefined);
      server.says((to) => {
        methods.writeChannelOpenOk(to, channel.number);
        methods.writeBasicConsumeOk(to, channel.number, 'c1');
      });
      consumers.push(channel.number);
    }
    for (const number of consumers) {
      server.says((to) => {
        methods.writeBasicDeliver(to, number, 'c1', 1, false, '', 'q');
        header(to, number, 900_000);
      });
    }
    let sent = 0;
    while (events.length === 1 && sent < 10_000_000) {
      for (const number of consumers) server.says((to) => to.body(number, Buffer.alloc(1_000)));
      sent += consumers.length * 1_000;
    }
    expect(sent).toBeLessThan(2_100_000);
    expect(events[1]).toContain('unfinished messages of more than 2000000 bytes');
    expect(bodies).toEqual([]);
  });

  it('messages with headers that cannot be decoded are delivered, and marked', () => {
    const { server, events, connection } = opened();
    const marks: boolean[] = [];
    const channel = connection.openChannel({ closed: () => undefined });
    const delivered = ({ isUndecodable }: { isUndecodable: boolean }): void => void marks.push(isUndecodable);
    channel.consume('q', {}, { delivered, cancelled: () => undefined }, () => undefined);
    server.says((to) => {
      methods.writeChannelOpenOk(to, channel.number);
      methods.writeBasicConsumeOk(to, channel.number, 'c1');
      for (const flags of [0x2000, 0xffff, 0]) {
        methods.writeBasicDeliver(to, channel.number, 'c1', 1, false, '\udcff', '\udcfe');
        header(to, channel.number, 0, flags);
      }
    });
    expect(marks).toEqual([true, true, false]);
    expect(events).toEqual(['opened Fake']);
  });
});

it('a string of the server is shown on one line, without escape sequences', () => {
  const text = '\u001b[31mred\nERROR a line of its own';
  const close = (server: FakeServer): void => server.says((to) => methods.writeConnectionClose(to, 0, 320, text, 0, 0));
  const before = connecting();
  close(before.server);
  const after = connecting();
  after.server.opens();
  close(after.server);
  for (const { events } of [before, after])
    expect(events.at(-1)).toContain(': \\x1b[31mred\\x0aERROR a line of its own');
});
