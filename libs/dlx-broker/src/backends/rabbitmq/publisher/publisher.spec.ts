import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import type { Publication } from '../../backend.js';
import type { AmqpConnection, ConfirmPublisher, Done, Sendable } from '../../../amqp/client/api.js';
import {
  ChannelClosedError,
  type ClientError,
  ConnectionClosedError,
  NackedError,
  ReturnedError,
  UnsendableError,
} from '../../../amqp/client/errors.js';
import { Publisher, type PublisherLimits } from './publisher.js';

/** A publish that a channel has, and that the test answers. */
interface Sent {
  readonly text: string;
  readonly mandatory: boolean;
  readonly done: Done;
}

/** A channel at the other end of the port: it keeps what is published until the test answers. */
class Channel implements ConfirmPublisher {
  readonly channel = undefined as never;
  isOpen = true;
  readonly sent: Sent[] = [];

  constructor(
    readonly ended: (failure?: ClientError) => void,
    private readonly server: { readonly answersCloses: boolean } = { answersCloses: true },
  ) {}

  get outstanding(): number {
    return this.sent.length;
  }

  publish(
    _exchange: string,
    _key: string,
    _properties: object,
    body: Uint8Array,
    mandatory: boolean,
    done: Done,
  ): void {
    this.sent.push({ text: Buffer.from(body).toString(), mandatory, done });
  }

  send(message: Sendable): void {
    const { exchange, routingKey, properties, body, mandatory } = message;
    this.publish(exchange, routingKey, properties, body, mandatory, (failure) => message.settled(failure));
  }

  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text);
  }

  /** Answers the oldest, or the one with that text. */
  answer(failure?: ClientError, text = this.sent[0]!.text): void {
    const [found] = this.sent.splice(
      this.sent.findIndex((sent) => sent.text === text),
      1,
    );
    found!.done(failure);
  }

  /** The channel ends: all that is outstanding fails first. */
  end(failure?: ClientError): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const reason = failure ?? new ChannelClosedError(200, 'closed', '');
    for (const { done } of this.sent.splice(0)) done(reason);
    this.ended(failure);
  }

  close(): void {
    if (this.server.answersCloses) this.end();
  }
}

const limits: PublisherLimits = { window: 10, messages: 20, bytes: 1_000_000, timeout: 30_000, refusedFor: 30_000 };
const nacked = new NackedError('e', 'k');
const lost = (code?: number): ConnectionClosedError => new ConnectionClosedError('server', 'host:5672', 'gone', code);

function arrange(more: Partial<PublisherLimits> = {}) {
  const clock = new ManualClock();
  const channels: Channel[] = [];
  const faults: unknown[] = [];
  /** Exchanges that the server lacks, and those about which it was asked. */
  const [missing, asked] = [new Set<string>(), [] as string[]];
  /** Answers of the server that the test holds back. */
  const answers: (() => void)[] = [];
  const connection = {
    isOpen: true,
    isBlocked: false,
    isCongested: false,
    mostChannels: Infinity,
    isSlow: false,
    answersCloses: true,
    /** Why it was left, if it was. */
    left: [] as (string | undefined)[],
    destroy(why?: string): void {
      connection.left.push(why);
      connection.isOpen = false;
      for (const each of channels) each.end(new ConnectionClosedError('silence', 'host:5672', why ?? ''));
    },
    openChannel: () => ({
      isOpen: true,
      checkExchange(exchange: string, done: Done): void {
        asked.push(exchange);
        const text = `NOT_FOUND - no exchange '${exchange}' in vhost '/'`;
        const answer = (): void =>
          done(missing.has(exchange) ? new ChannelClosedError(404, text, 'exchange.declare') : undefined);
        if (connection.isSlow) answers.push(answer);
        else answer();
      },
      close: () => undefined,
    }),
  };
  const publisher = new Publisher(
    {
      clock,
      random: () => 0.999_999,
      fault: (error) => faults.push(error),
      open: (_connection, events) => {
        const channel = new Channel((failure) => events.closed(failure), connection);
        if (channels.filter(({ isOpen }) => isOpen).length < connection.mostChannels) channels.push(channel);
        else {
          channel.isOpen = false;
          queueMicrotask(() => events.closed(new UnsendableError('all channels are open')));
        }
        return channel;
      },
    },
    { ...limits, ...more },
  );
  const results = new Map<string, Error | undefined>();
  const publish = (text: string, change: Partial<Publication> = {}): void =>
    publisher.publish(
      { exchange: 'e', routingKey: 'k', properties: {}, body: Buffer.from(text), mandatory: true, ...change },
      (failure) => results.set(text, failure),
    );
  const attach = (): void => publisher.attach(connection as unknown as AmqpConnection);
  attach();
  const channel = (): Channel => channels.at(-1)!;
  const shown = (): Record<string, string> =>
    Object.fromEntries([...results].map(([text, failure]) => [text, failure?.name ?? 'taken']));
  const look = { missing, asked, answer: () => answers.shift()!() };
  return { clock, publisher, publish, channels, channel, connection, attach, results, shown, faults, look };
}

describe('a publish', () => {
  it('is done when it is confirmed, and not before', () => {
    const { publish, channel, shown } = arrange();
    publish('a');
    publish('b');
    expect([channel().texts, shown()]).toEqual([['a', 'b'], {}]);
    channel().answer();
    expect(shown()).toEqual({ a: 'taken' });
  });

  it('that is returned fails if it is mandatory, and is reported as dropped if it is not', () => {
    const { publish, channel, shown } = arrange();
    const dropped: string[] = [];
    publish('a');
    publish('b', { mandatory: false, dropped: ({ routingKey }) => void dropped.push(routingKey) });
    publish('c', { mandatory: false });
    expect(channel().sent.map(({ mandatory }) => mandatory)).toEqual([true, true, false]);
    for (const _ of 'ab') channel().answer(new ReturnedError('e', 'k', 312, 'NO_ROUTE'));
    expect([shown(), dropped]).toEqual([{ a: 'UnroutableError', b: 'taken' }, ['k']]);
  });

  it('that cannot be put on the wire fails, and only that one', () => {
    const { publish, channel, results } = arrange();
    publish('a');
    channel().answer(new UnsendableError('the routing key is longer than 255 bytes'));
    expect(results.get('a')).toMatchObject({ name: 'ServerError', retry: 'never', mayBeTaken: false });
    expect(results.get('a')!.message).toContain('longer than 255 bytes');
  });

  it('beyond the window waits, and goes in order', () => {
    const { publish, channel } = arrange({ window: 2 });
    for (const text of 'abcd') publish(text);
    expect(channel().texts).toEqual(['a', 'b']);
    channel().answer();
    channel().answer();
    expect(channel().texts).toEqual(['c', 'd']);
  });

  it('beyond the buffer fails at once, in messages and in bytes', () => {
    const { publish, results } = arrange({ messages: 2 });
    for (const text of 'abc') publish(text);
    expect(results.get('c')).toMatchObject({ name: 'OverloadedError', retry: 'later', mayBeTaken: false });
    expect(results.get('c')!.message).toContain("option 'publishBuffer'");
    const small = arrange({ bytes: 600 });
    small.publish('x'.repeat(5_000)); // one is always taken
    small.publish('y');
    expect(small.shown()).toEqual({ y: 'OverloadedError' });
  });

  it('whose callback throws is a fault, and the others go on', () => {
    const { publisher, publish, channel, shown, faults } = arrange();
    const fault = new Error('a mistake');
    publisher.publish({ exchange: '', routingKey: 'q', properties: {}, body: Buffer.from('a') }, () => {
      throw fault;
    });
    publish('b');
    channel().answer();
    channel().answer();
    expect([faults, shown()]).toEqual([[fault], { b: 'taken' }]);
  });
});

describe('while there is no connection, or it is blocked', () => {
  it('publishes wait; all are sent with the next connection, first those in doubt', () => {
    const { publisher, publish, channel, channels, attach, connection, shown } = arrange();
    publish('a');
    publish('b');
    connection.isOpen = false;
    channel().end(lost());
    publisher.detach('gone');
    publish('c');
    connection.isOpen = true;
    attach();
    expect(channels).toHaveLength(2);
    expect(channel().texts).toEqual(['a', 'b', 'c']);
    for (const _ of 'abc') channel().answer();
    expect(shown()).toEqual({ a: 'taken', b: 'taken', c: 'taken' });
  });

  it('what was never sent fails as not connected at its time, what was sent as unconfirmed', () => {
    const { clock, publisher, publish, channel, results, connection } = arrange();
    publish('a');
    connection.isOpen = false;
    channel().end(lost());
    publisher.detach('connection to host:5672 lost');
    publish('b');
    clock.advance(29_999);
    expect(results.size).toBe(0);
    clock.advance(1_001); // looked at once a second
    expect(results.get('a')).toMatchObject({ name: 'UnconfirmedError', retry: 'later', mayBeTaken: true });
    expect(results.get('b')).toMatchObject({ name: 'ConnectionLostError', mayBeTaken: false });
    expect(results.get('b')!.message).toMatch(/^not connected: /);
    expect(results.get('b')!.message).toContain('not sent within 30000 ms: connection to host:5672 lost');
  });

  it('a publish with a limit of its own fails then, and is never sent', () => {
    const { clock, publisher, publish, channel, shown, results, connection, attach } = arrange();
    connection.isOpen = false;
    channel().end(lost());
    publisher.detach('connection to host:5672 lost');
    publish('a', { timeout: 2_000 });
    publish('b');
    publish('c', { timeout: 500 });
    clock.advance(500);
    expect(shown()).toEqual({ c: 'ConnectionLostError' });
    clock.advance(1_500);
    expect(shown()).toEqual({ a: 'ConnectionLostError', c: 'ConnectionLostError' });
    expect(results.get('a')!.message).toMatch(/^not connected: .*was not sent within 2000 ms: connection to host/);
    connection.isOpen = true;
    attach();
    publish('d', { timeout: 1_000 });
    expect(channel().texts).toEqual(['b', 'd']);
    clock.advance(1_000);
    expect(results.get('d')).toMatchObject({ name: 'UnconfirmedError', mayBeTaken: true });
    publish('e', { timeout: 1_000 });
    channel().answer(undefined, 'e');
    clock.advance(1_000);
    expect(shown()).toMatchObject({ e: 'taken' });
  });

  it('a blocked connection takes nothing, and goes on when it is unblocked', () => {
    const { clock, publisher, publish, channel, shown, results } = arrange({ timeout: 1_000 });
    publisher.blocked('low on memory');
    publish('a');
    clock.advance(500);
    publish('b');
    expect(channel().texts).toEqual([]);
    clock.advance(600);
    expect(results.get('a')!.message).toContain('the server blocks publishers: low on memory');
    publisher.blocked(undefined);
    expect(channel().texts).toEqual(['b']);
    channel().answer();
    expect(shown()).toEqual({ a: 'OverloadedError', b: 'taken' });
  });

  it('a connection that is blocked when it opens is named as the reason', () => {
    const { clock, publisher, publish, channel, connection, attach, results } = arrange({ timeout: 1_000 });
    connection.isOpen = false;
    channel().end(lost());
    publisher.detach('connection to host:5672 lost');
    Object.assign(connection, { isOpen: true, isBlocked: true });
    attach();
    publish('a');
    clock.advance(1_100);
    expect(results.get('a')!.message).toContain('the server blocks publishers: it is short of memory or disk');
  });

  it('many publishes fail in turns, in their order', () => {
    const { clock, publisher, publish, shown } = arrange({ timeout: 1_000, messages: 1_000 });
    publisher.blocked('low on memory');
    for (let n = 0; n < 1_000; n++) publish(`a${n}`);
    const failed = (): number => Object.keys(shown()).length;
    let most = 0;
    for (let before = 0; failed() < 1_000 && clock.step(clock.now() + 1_000); before = failed())
      most = Math.max(most, failed() - before);
    expect(Object.keys(shown())).toEqual(Array.from({ length: 1_000 }, (_, n) => `a${n}`));
    expect(most).toBeLessThanOrEqual(128);
  });

  it('many publishes fail at their deadline, also if the application publishes again at each failure', () => {
    const { clock, publisher } = arrange({ timeout: 1_000, messages: 1_000 });
    publisher.blocked('low on memory');
    let failed = 0;
    const publication = { exchange: 'e', routingKey: 'k', properties: {}, body: Buffer.from('a') };
    const again = (): void => {
      failed++;
      publisher.publish(publication);
    };
    for (let n = 0; n < 1_000; n++) publisher.publish(publication, again);
    clock.advance(1_250);
    expect(failed).toBe(1_000);
  });

  it('a confirm after the deadline changes nothing', () => {
    const { clock, publish, channel, shown } = arrange({ timeout: 1_000 });
    publish('a');
    const [late] = channel().sent;
    clock.advance(2_000);
    expect(shown()).toEqual({ a: 'UnconfirmedError' });
    late!.done();
    expect(shown()).toEqual({ a: 'UnconfirmedError' });
  });
});

describe('a refused message (nack)', () => {
  it('is published again after 50 ms, 100 ms ... 1 s, until it is taken', () => {
    const { clock, publish, channel, shown } = arrange();
    publish('a');
    for (const pause of [50, 100, 200, 400]) {
      channel().answer(nacked);
      clock.advance(pause - 1);
      expect(channel().texts).toEqual([]);
      clock.advance(1);
      expect(channel().texts).toEqual(['a']);
    }
    channel().answer();
    expect(shown()).toEqual({ a: 'taken' });
  });

  it('fails when its time is over: at once with 0', () => {
    const { clock, publish, channel, results } = arrange({ refusedFor: 300 });
    publish('a');
    channel().answer(nacked);
    clock.advance(100);
    channel().answer(nacked);
    clock.advance(250);
    channel().answer(nacked);
    expect(results.get('a')).toMatchObject({ name: 'RefusedError', retry: 'later', mayBeTaken: true });
    const at = arrange({ refusedFor: 0 });
    at.publish('a');
    at.channel().answer(nacked);
    expect(at.shown()).toEqual({ a: 'RefusedError' });
  });

  it('after 1 s goes on a new channel; what is on its way on the old one stays there', () => {
    const { clock, publish, channels, shown } = arrange();
    publish('a');
    publish('slow');
    for (const pause of [50, 100, 200, 400, 800]) {
      channels[0]!.answer(nacked, 'a');
      clock.advance(pause);
    }
    expect(channels).toHaveLength(1);
    channels[0]!.answer(nacked, 'a');
    expect(channels).toHaveLength(2);
    clock.advance(1_000);
    expect(channels.map(({ texts }) => texts)).toEqual([['slow'], ['a']]);
    channels[1]!.answer();
    channels[0]!.answer();
    expect(shown()).toEqual({ a: 'taken', slow: 'taken' });
    expect(channels.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  });

  it('on a channel that takes other messages is the fault of a queue: the channel stays', () => {
    const { clock, publish, channels, channel } = arrange();
    publish('full');
    for (let round = 0; round < 12; round++) {
      channel().answer(nacked, 'full');
      publish(`ok ${round}`);
      channel().answer(undefined, `ok ${round}`);
      clock.advance(1_000);
    }
    expect(channels).toHaveLength(1);
  });
});

describe('an exchange that this process has not used', () => {
  it('is looked up once before the first publish; publishes to it wait, in order, and others do not', () => {
    const { publish, channel, channels, connection, attach, look, shown } = arrange();
    connection.isSlow = true;
    for (const text of 'ab') publish(text, { exchange: 'new' });
    publish('c', { exchange: '' });
    publish('d', { exchange: 'gone' });
    expect([channel().texts, look.asked]).toEqual([['c'], ['new']]);
    look.missing.add('gone');
    look.answer();
    publish('e', { exchange: 'new' });
    expect([channel().texts, look.asked]).toEqual([
      ['c', 'a', 'b', 'e'],
      ['new', 'gone'],
    ]);
    look.answer();
    expect(shown()).toEqual({ d: 'ServerError' });
    expect([channels.length, look.asked]).toEqual([1, ['new', 'gone']]);
    attach(); // another connection, perhaps to another server
    publish('f', { exchange: 'new' });
    expect(look.asked).toEqual(['new', 'gone', 'new']);
  });

  it('is looked up again on the next connection, if the answer did not come before', () => {
    const { publish, channel, connection, attach, look, publisher } = arrange();
    connection.isSlow = true;
    publish('a');
    connection.isOpen = false;
    look.answer();
    channel().end(lost());
    publisher.detach('gone');
    Object.assign(connection, { isOpen: true, isSlow: false });
    attach();
    expect([channel().texts, look.asked]).toEqual([['a'], ['e', 'e']]);
  });

  it('is forgotten when it is gone: later publishes do not close the channel again', () => {
    const { publish, channel, channels, look, shown } = arrange();
    publish('a');
    look.missing.add('e');
    channel().end(new ChannelClosedError(404, "NOT_FOUND - no exchange 'e' in vhost '/'", 'basic.publish'));
    for (const text of 'bcd') publish(text);
    expect(shown()).toEqual({ a: 'ServerError', b: 'ServerError', c: 'ServerError', d: 'ServerError' });
    expect(channels).toHaveLength(2);
  });
});

describe('a channel that the server closed', () => {
  const notFound = new ChannelClosedError(404, "NOT_FOUND - no exchange 'gone' in vhost '/'", 'basic.publish');
  const tooLarge = new ChannelClosedError(406, 'PRECONDITION_FAILED - message size 9 is larger', 'basic.publish');

  it('404 and 403: those that name the exchange fail, the innocent are sent again', () => {
    const { publish, channel, results, shown } = arrange();
    publish('a');
    publish('b', { exchange: 'gone' });
    publish('c');
    publish('d', { exchange: 'gone' });
    channel().end(notFound);
    expect(channel().texts).toEqual(['a', 'c']);
    expect(shown()).toEqual({ b: 'ServerError', d: 'ServerError' });
    expect(results.get('b')).toMatchObject({ code: 404, retry: 'never', mayBeTaken: false });
  });

  it('404: the guilty one may have failed at its deadline before; the only one that is left is innocent', () => {
    const { clock, publish, channel, channels, shown } = arrange({ timeout: 10_000 });
    publish('a', { exchange: 'gone' });
    for (const text of ['c', 'd', 'e']) {
      clock.advance(3_000);
      publish(text);
      channel().answer(undefined, text); // the channel is not stuck
    }
    publish('b');
    clock.advance(2_000);
    expect([channels.length, channel().texts]).toEqual([1, ['a', 'b']]);
    expect(shown()).toMatchObject({ a: 'UnconfirmedError' });
    channel().end(notFound);
    expect(channel().texts).toEqual(['b']);
    channel().answer();
    expect(shown()).toMatchObject({ a: 'UnconfirmedError', b: 'taken' });
  });

  it('404 with a name that is cut off: the only publish fails, and is not sent for ever', () => {
    const { publish, channel, shown } = arrange();
    const exchange = 'x'.repeat(250);
    publish('a', { exchange });
    channel().end(new ChannelClosedError(404, `NOT_FOUND - no exchange '${exchange}`.slice(0, 255), 'basic.publish'));
    expect(shown()).toEqual({ a: 'ServerError' });
  });

  it('404 that names another exchange than that of the only publish: it fails, and is not sent for ever', () => {
    const { publish, channel, channels, shown } = arrange();
    publish('a');
    publish('b');
    for (let closes = 1; closes <= 3; closes++) channel().end(notFound);
    expect(shown()).toEqual({ a: 'ServerError', b: 'ServerError' });
    expect(channels).toHaveLength(4);
  });

  it('406 names nothing: they are sent one at a time, and the one that closes the channel again fails', () => {
    const { publish, channel, shown } = arrange();
    for (const text of 'abc') publish(text);
    channel().end(tooLarge);
    publish('d');
    expect(channel().texts).toEqual(['a']);
    channel().answer();
    expect(channel().texts).toEqual(['b']);
    channel().end(tooLarge);
    expect(channel().texts).toEqual(['c']);
    channel().answer();
    expect(channel().texts).toEqual(['d']);
    channel().answer();
    expect(shown()).toEqual({ a: 'taken', b: 'ServerError', c: 'taken', d: 'taken' });
  });

  it('a connection that ends for what was sent (501) is handled alike; one that a node takes along (320) is not', () => {
    const { publisher, publish, channel, connection, attach, shown } = arrange();
    const reconnect = (code: number | undefined): void => {
      connection.isOpen = false;
      channel().end(lost(code));
      publisher.detach('gone');
      connection.isOpen = true;
      attach();
    };
    for (const text of 'ab') publish(text);
    reconnect(320);
    expect(channel().texts).toEqual(['a', 'b']);
    reconnect(501);
    expect(channel().texts).toEqual(['a']);
    reconnect(undefined); // the network this time: not its fault
    expect(channel().texts).toEqual(['a']);
    reconnect(501);
    expect([channel().texts, shown()]).toEqual([['b'], { a: 'ServerError' }]);
  });

  it('a suspect whose channel is replaced is sent alone again', () => {
    const { clock, publish, channels, channel } = arrange({ timeout: 10_000 });
    for (const text of 'ab') publish(text);
    channel().end(tooLarge);
    clock.advance(5_000); // no confirm for half of the time
    expect(channels).toHaveLength(3);
    expect(channel().texts).toHaveLength(1);
    channel().answer();
    expect(channel().texts).toHaveLength(1);
  });

  it('confirms that do not come for half of the time: the rest goes on the next channel', () => {
    const { clock, publish, channels, channel, shown } = arrange({ timeout: 10_000 });
    publish('a');
    publish('b');
    clock.advance(4_000);
    channel().answer();
    clock.advance(4_000);
    expect(channels).toHaveLength(1); // one came meanwhile
    clock.advance(1_900);
    publish('c');
    clock.advance(2_000);
    expect(channels).toHaveLength(2);
    expect(channel().texts).toContain('c');
    channel().answer(undefined, 'c');
    expect(shown()).toEqual({ a: 'taken', b: 'UnconfirmedError', c: 'taken' });
  });

  it('after a long rest has its whole time: a publish does not wait since the last one', () => {
    const { clock, publish, channels, channel, connection } = arrange({ timeout: 10_000 });
    publish('a');
    channel().answer();
    clock.advance(3_600_000);
    publish('b');
    clock.advance(4_900);
    expect(channels).toHaveLength(1);
    clock.advance(1_000);
    expect([channels.length, connection.left]).toEqual([2, []]);
  });
});

describe('a connection on which no publish is answered', () => {
  const why = 'the server answered no publish for 7500 ms';

  /** Publishes once a second. */
  function busy(answered: (second: number) => boolean = () => false) {
    const arranged = arrange({ timeout: 10_000, window: 100, messages: 100 });
    const { clock, publish, channel, connection, attach } = arranged;
    connection.answersCloses = false;
    const seconds = (count: number): void => {
      for (let second = 0; second < count; second++) {
        publish(`${clock.now()}`);
        if (answered(second)) channel().answer(undefined, `${clock.now()}`);
        clock.advance(1_000);
      }
    };
    const reconnect = (): void => {
      connection.isOpen = true;
      attach();
    };
    return { ...arranged, seconds, reconnect };
  }

  it('is left after three quarters of the time of a publish, so that another node may take them in time', () => {
    const { seconds, connection, reconnect, channel, shown } = busy();
    seconds(7);
    expect(connection.left).toEqual([]);
    seconds(1);
    expect(connection.left).toEqual([why]);
    reconnect();
    expect(channel().texts).toHaveLength(8);
    while (channel().outstanding > 0) channel().answer();
    expect(Object.values(shown())).toEqual(Array.from({ length: 8 }, () => 'taken'));
  });

  it('is left later and later while no other one answers either, and as soon as at first once one has', () => {
    const { seconds, connection, reconnect, channel } = busy();
    const pauses: number[] = [];
    const toTheEnd = (): void => {
      let count = 0;
      for (; connection.isOpen && count < 100; count++) seconds(1);
      pauses.push(count);
      reconnect();
    };
    for (let round = 0; round < 3; round++) toTheEnd();
    seconds(1);
    channel().answer();
    seconds(1);
    connection.destroy();
    reconnect();
    toTheEnd();
    expect(pauses).toEqual([8, 15, 30, 8]);
  });

  it('stays where some publishes are answered', () => {
    const { seconds, connection } = busy((second) => second % 4 === 0);
    seconds(60);
    expect(connection.left).toEqual([]);
  });

  it('stays while it is blocked, and where every answer is a nack', () => {
    const { seconds, connection, publisher, channel } = busy();
    publisher.blocked('memory');
    seconds(30);
    publisher.blocked(undefined);
    for (let second = 0; second < 30; second++) {
      while (channel().outstanding > 0) channel().answer(nacked);
      seconds(1);
    }
    expect(connection.left).toEqual([]);
  });
});

describe('many publishes that are returned in one turn', () => {
  const returned = new ReturnedError('e', 'k', 312, 'NO_ROUTE');
  const texts = Array.from({ length: 1_000 }, (_, n) => `a${n}`);

  function returning(count: number) {
    const arranged = arrange({ window: 1_000, messages: 1_000 });
    for (const text of texts) arranged.publish(text);
    for (let n = 0; n < count; n++) arranged.channel().answer(returned);
    return { ...arranged, failed: () => Object.keys(arranged.shown()) };
  }

  it('fail in turns and in their order, the first ones at once', () => {
    const { clock, failed, results } = returning(1_000);
    expect(failed()).toHaveLength(128);
    let most = 0;
    for (let before = failed().length; failed().length < 1_000; before = failed().length) {
      expect(clock.step(clock.now())).toBe(true);
      most = Math.max(most, failed().length - before);
    }
    expect([failed(), most]).toEqual([texts, 128]);
    expect(results.get('a999')).toMatchObject({ name: 'UnroutableError' });
    expect(results.get('a999')!.stack).not.toContain('at ');
  });

  it('keep their places in the buffer until then, and close waits for them', async () => {
    const { clock, publisher, failed, shown, publish } = returning(1_000);
    expect(failed()).toHaveLength(128);
    for (let n = 0; n < 129; n++) publish(`b${n}`);
    expect(shown()).toMatchObject({ b128: 'OverloadedError' });
    let isClosed = false;
    const closed = publisher.close(5_000).then(() => (isClosed = true));
    await Promise.resolve();
    expect(isClosed).toBe(false);
    clock.advance(5_000);
    await closed;
    expect(new Set(texts.map((text) => shown()[text]))).toEqual(new Set(['UnroutableError']));
  });

  it('fail as returned, also if the server ends the channel, or their time is over, before their turn', () => {
    const { clock, channel, failed, shown } = returning(999);
    channel().end(new ChannelClosedError(404, "NOT_FOUND - no exchange 'e' in vhost '/'", 'basic.publish'));
    clock.advance(60_000);
    expect(failed()).toHaveLength(1_000);
    expect(new Set(texts.slice(0, 999).map((text) => shown()[text]))).toEqual(new Set(['UnroutableError']));
    expect(shown()).toMatchObject({ a999: 'ServerError' });
  });
});

describe('closing', () => {
  it('fails what is left in turns', async () => {
    const { clock, publisher, publish, shown } = arrange({ messages: 1_000 });
    for (let n = 0; n < 1_000; n++) publish(`a${n}`);
    const closed = publisher.close(0);
    const failed = (): number => Object.keys(shown()).length;
    let most = 0;
    for (let before = 0; failed() < 1_000; before = failed()) {
      clock.step(clock.now());
      await Promise.resolve();
      most = Math.max(most, failed() - before);
    }
    await closed;
    expect([Object.keys(shown()), most]).toEqual([Array.from({ length: 1_000 }, (_, n) => `a${n}`), 128]);
  });

  it('waits for the confirms, and takes no more publishes', async () => {
    const { publisher, publish, channel, shown } = arrange();
    publish('a');
    const closed = publisher.close(5_000);
    publish('b');
    channel().answer();
    await closed;
    expect(shown()).toEqual({ a: 'taken', b: 'ConnectionLostError' });
  });

  it('ends after its time, and what is left fails', async () => {
    const { clock, publisher, publish, shown } = arrange();
    publish('a');
    const closed = publisher.close(5_000);
    clock.advance(5_000);
    await closed;
    expect(shown()).toEqual({ a: 'UnconfirmedError' });
  });
});

describe('where the server allows no further channel', () => {
  it('a channel that only refuses is not replaced, and goes on', async () => {
    const { clock, publish, channel, channels, connection, shown } = arrange();
    connection.mostChannels = 1;
    publish('a');
    for (let second = 0; second < 3; second++) {
      channel().answer(nacked);
      clock.advance(1_000);
      await Promise.resolve();
    }
    channel().answer();
    publish('b');
    channel().answer();
    expect([channels.length, shown()]).toEqual([1, { a: 'taken', b: 'taken' }]);
  });

  it('publishes wait until it allows one', async () => {
    const { clock, publisher, publish, channels, channel, connection, attach, results, shown } = arrange({
      timeout: 5_000,
    });
    channel().end(lost());
    publisher.detach('gone');
    connection.mostChannels = 0;
    attach();
    publish('a');
    await Promise.resolve();
    clock.advance(5_000);
    expect(results.get('a')!.message).toContain('not sent within 5000 ms: the server allows no channel for publishing');
    publish('b');
    connection.mostChannels = 1;
    clock.advance(1_000);
    channel().answer();
    expect([channels.length, shown()]).toEqual([2, { a: 'OverloadedError', b: 'taken' }]);
  });
});

it('a server that closes each channel after a publish, with no reason, is not called in a loop', () => {
  const { clock, publish, channels, channel, shown } = arrange();
  publish('a');
  for (let second = 1; second <= 3; second++) {
    channel().end(new ChannelClosedError(200, 'OK', ''));
    expect(channels).toHaveLength(second);
    clock.advance(1_000);
    expect(channel().texts).toEqual(['a']);
  }
  channel().answer();
  publish('b');
  channel().end(new ChannelClosedError(200, 'OK', ''));
  expect([channels.length, channel().texts, shown()]).toEqual([5, ['b'], { a: 'taken' }]);
});

it('a server that closes each channel at once is not called in a loop', () => {
  const { clock, publish, channels, channel, shown } = arrange();
  for (let second = 1; second <= 3; second++) {
    channel().end(new ChannelClosedError(541, 'INTERNAL_ERROR', ''));
    expect(channels).toHaveLength(second);
    clock.advance(1_000);
  }
  publish('a');
  channel().answer();
  expect([channels.length, shown()]).toEqual([4, { a: 'taken' }]);
});
