import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import type { BackendDelivery } from '../../backend.js';
import type {
  AmqpChannel,
  AmqpConnection,
  Answer,
  ChannelEvents,
  ConsumerEvents,
  Delivery,
} from '../../../amqp/client/api.js';
import {
  ChannelClosedError,
  type ClientError,
  ConnectionClosedError,
  UnsendableError,
} from '../../../amqp/client/errors.js';
import { Pauses } from '../pauses.js';
import { RabbitMqConsumer } from './consumer.js';

/** A channel with a consumer, which the test answers. */
class FakeChannel {
  isOpen = true;
  readonly calls: string[] = [];
  events!: ConsumerEvents;
  #answer!: Answer<string>;
  #tag = 0;

  constructor(readonly channelEvents: ChannelEvents) {}

  qos(prefetch: number): void {
    this.calls.push(`qos ${prefetch}`);
  }
  consume(queue: string, options: { exclusive?: boolean }, events: ConsumerEvents, answer: Answer<string>): string {
    this.calls.push(`consume ${queue}${options.exclusive === true ? ' exclusive' : ''}`);
    this.events = events;
    this.#answer = answer;
    return 'tag';
  }
  cancel(tag: string, done: () => void): void {
    this.calls.push(`cancel ${tag}`);
    this.cancelOk = done;
  }
  cancelOk = (): void => undefined;
  ack(tag: number, multiple = false): void {
    this.calls.push(`ack ${multiple ? 'all to ' : ''}${tag}`);
  }
  reject(tag: number, requeue: boolean): void {
    this.calls.push(`reject ${tag}${requeue ? ', requeue' : ''}`);
  }
  nack(tag: number): void {
    this.calls.push(`nack ${tag}`);
  }
  close(): void {
    this.calls.push('close');
    this.end();
  }

  begin(): void {
    this.#answer(undefined, 'tag');
  }
  deliver(): void {
    const deliveryTag = ++this.#tag;
    const message = { exchange: '', routingKey: 'q', properties: {}, body: Buffer.of(), isUndecodable: false };
    this.events.delivered({ ...message, deliveryTag, redelivered: false, consumerTag: 'tag' } as Delivery);
  }
  end(failure?: ClientError): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.channelEvents.closed(failure);
  }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};
const closedBy = (code: number, text: string): ChannelClosedError =>
  new ChannelClosedError(code, text, 'basic.consume');

function arrange({ exclusive = false, late = false, fails = false, noChannel = false, takesLate = false } = {}) {
  const clock = new ManualClock();
  const sessions: FakeChannel[] = [];
  const happened: string[] = [];
  const taken: BackendDelivery[] = [];
  const server = { noChannel };
  const confirms: ((failure?: Error) => void)[] = [];
  const connection = {
    atEndOfTurn: () => undefined,
    openChannel: (events: ChannelEvents) => {
      const session = new FakeChannel(events);
      sessions.push(session);
      if (server.noChannel) queueMicrotask(() => session.end(new UnsendableError('all 1 channels are open')));
      return session as unknown as AmqpChannel;
    },
  };
  const consumer = new RabbitMqConsumer(
    {
      clock,
      pauses: () => new Pauses(100, 5_000, () => 0.999_999),
      publish: (_publication, done) => void confirms.push(done),
      closeTimeout: 5_000,
      warn: (text) => void happened.push(text),
      connection: () => connection as unknown as AmqpConnection,
      isLate: () => late,
      left: () => void happened.push('left'),
      fault: (error) => void happened.push(`fault: ${(error as Error).message}`),
    },
    'q',
    {
      prefetch: 5,
      exclusive,
      takesLate,
      onCancel: (reason, failure) =>
        void happened.push(`${reason}${failure === undefined ? '' : `: ${failure.message}`}`),
    },
    (delivery) => {
      if (fails) throw new Error('a mistake');
      taken.push(delivery);
    },
  );
  consumer.started.then(
    () => happened.push('started'),
    (failure: Error) => happened.push(`not started: ${failure.message}`),
  );
  consumer.begin();
  return { clock, consumer, sessions, session: () => sessions.at(-1)!, happened, taken, server, confirms };
}

const lost = new ConnectionClosedError('socket', 'host', 'gone');

describe('a consumer', () => {
  it('begins with its prefetch, and has begun when the server answers', async () => {
    const { session, happened, taken } = arrange({ exclusive: true });
    await settle();
    expect([session().calls, happened]).toEqual([['qos 5', 'consume q exclusive'], []]);
    session().begin();
    session().deliver();
    await settle();
    expect([happened, taken.length]).toEqual([['started'], 1]);
  });

  it.each([
    [404, "NOT_FOUND - no queue 'q' in vhost '/'"],
    [403, "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use"],
    [405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q'"],
  ])('that the server refuses with %i at first has not started, and is no cancel', async (code, text) => {
    const { session, sessions, happened, clock } = arrange();
    session().end(closedBy(code, text));
    await settle();
    expect(happened).toEqual(['left', `not started: queue 'q' cannot be consumed: ${text}`]);
    clock.advance(60_000);
    expect(sessions).toHaveLength(1);
  });

  it.each([
    [541, 'INTERNAL_ERROR', {}],
    [404, "NOT_FOUND - home node 'rabbit@b' of durable queue 'q' in vhost '/' is down or inaccessible", {}],
    [404, "NOT_FOUND - no queue 'q' in vhost '/'", { late: true }],
  ])('that the server cannot begin now (%i) begins later, after pauses that grow', async (code, text, options) => {
    const { session, sessions, happened, clock } = arrange(options);
    session().end(closedBy(code, text));
    clock.advance(100);
    session().end(closedBy(code, text));
    clock.advance(199);
    expect(sessions).toHaveLength(2);
    clock.advance(1);
    session().begin();
    await settle();
    expect([sessions.length, happened]).toEqual([3, ['started']]);
  });

  it('comes back with the next connection; what was in hand is settled', async () => {
    const { consumer, session, sessions, happened, taken } = arrange();
    session().begin();
    session().deliver();
    session().end(lost);
    expect(taken[0]!.settled).toBe(true);
    taken[0]!.ack();
    expect(sessions[0]!.calls).not.toContain('ack 1');
    consumer.begin(); // the backend calls it when there is a connection
    session().begin();
    await settle();
    expect([sessions.length, happened]).toEqual([2, ['started']]);
  });

  it.each([
    [403, "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use"],
    [405, 'RESOURCE_LOCKED'],
  ])('is not refused for good with %i on a restore: the server may believe in the lost connection', (code, text) => {
    const { consumer, session, sessions, happened, clock } = arrange();
    session().begin();
    session().end(lost);
    consumer.begin();
    session().end(closedBy(code, text));
    clock.advance(100);
    expect([sessions.length, happened.filter((each) => each !== 'started')]).toEqual([3, []]);
  });

  it('ends when its queue was deleted while there was no connection', async () => {
    const { consumer, session, happened } = arrange();
    session().begin();
    await settle();
    session().end(lost);
    consumer.begin();
    session().end(closedBy(404, "NOT_FOUND - no queue 'q' in vhost '/'"));
    expect(happened.slice(1)).toEqual([
      'left',
      "deleted: queue 'q' cannot be consumed: NOT_FOUND - no queue 'q' in vhost '/'",
    ]);
  });

  it('begins anew when the server closed only its channel', () => {
    const { session, sessions, clock } = arrange();
    session().begin();
    session().end(closedBy(406, 'PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out'));
    clock.advance(100);
    expect(sessions).toHaveLength(2);
  });

  it('ends when the server cancels it; its channel goes when nothing is in hand', async () => {
    const { session, happened, taken } = arrange();
    session().begin();
    session().deliver();
    session().deliver();
    session().deliver();
    await settle();
    session().events.cancelled();
    expect(happened).toEqual(['started', 'left', 'deleted']);
    taken[0]!.ack();
    expect(session().isOpen).toBe(true);
    taken[1]!.requeue();
    taken[2]!.giveBack();
    expect(session().calls.slice(2)).toEqual(['ack 1', 'reject 2, requeue', 'nack 3', 'close']);
  });

  it('that was cancelled gives back what comes after it, finishes what is in hand, and is not revived', () => {
    const { consumer, session, sessions, taken } = arrange();
    session().begin();
    session().deliver();
    consumer.cancel();
    session().deliver();
    expect(taken).toHaveLength(1);
    session().cancelOk();
    taken[0]!.ack();
    expect(session().calls.slice(2)).toEqual(['cancel tag', 'nack 2', 'ack 1', 'close']);
    consumer.begin();
    expect(sessions).toHaveLength(1);
  });

  it('that takes late messages gets what comes until the server answers, and settles it', () => {
    const { consumer, session, taken } = arrange({ takesLate: true });
    session().begin();
    session().deliver();
    consumer.cancel();
    session().deliver();
    expect(taken).toHaveLength(2);
    session().cancelOk();
    for (const delivery of taken) delivery.ack();
    expect(session().calls.slice(2)).toEqual(['cancel tag', 'ack all to 2', 'close']);
  });

  it('that was cancelled before it began has ended its start', async () => {
    const { consumer, session, happened } = arrange();
    consumer.cancel();
    await settle();
    expect([session().isOpen, happened]).toEqual([false, ['left', 'started']]);
  });

  it('whose listener throws ends: everything returns', async () => {
    const { session, happened } = arrange({ fails: true });
    session().begin();
    await settle();
    session().deliver();
    expect(session().isOpen).toBe(false);
    expect(happened.slice(1)).toEqual(['fault: a mistake', 'left', 'closed: a mistake']);
  });
});

describe('a consumer that is closed while messages are being republished', () => {
  const successor = { exchange: '', routingKey: 'lot', properties: {}, body: Buffer.of(), mandatory: true };

  async function closed() {
    const arranged = arrange();
    const { consumer, session, taken } = arranged;
    session().begin();
    for (let count = 0; count < 4; count++) session().deliver();
    const outcomes: (string | undefined)[] = [];
    for (const delivery of taken.slice(0, 2))
      delivery.replaceBy(successor, (failure) => outcomes.push(failure?.message));
    let isClosed = false;
    void consumer.close().then(() => (isClosed = true));
    await settle();
    return { ...arranged, outcomes, calls: () => session().calls.slice(2), isClosed: () => isClosed };
  }

  it('ends its channel after their acks', async () => {
    const { confirms, calls, isClosed, happened, clock, outcomes } = await closed();
    confirms[1]!();
    expect([calls(), isClosed()]).toEqual([[], false]);
    confirms[0]!();
    await settle();
    expect([calls(), isClosed()]).toEqual([['ack all to 2', 'close'], true]);
    expect([outcomes, happened]).toEqual([
      [undefined, undefined],
      ['started', 'left'],
    ]);
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('also when the server refuses one, whose message returns with the end of the channel', async () => {
    const { confirms, calls, taken } = await closed();
    confirms[0]!(new Error('refused'));
    expect(taken.map(({ settled }) => settled)).toEqual([false, false, false, false]);
    confirms[1]!();
    expect(calls()).toEqual(['ack 2', 'close']);
    expect(taken.map(({ settled }) => settled)).toEqual([true, true, true, true]);
  });

  it('gets nothing more; what it has may be acked, but no commit begins, and nothing returns before the end', async () => {
    const { confirms, calls, session, taken } = await closed();
    session().deliver();
    expect(taken.map(({ settled }) => settled)).toEqual([false, false, false, false]);
    taken[3]!.requeue();
    const refusals: unknown[] = [];
    taken[2]!.replaceBy(successor, (failure) => refusals.push(failure?.message));
    expect([calls(), taken.length, confirms.length]).toEqual([[], 4, 2]);
    expect(refusals).toEqual(['this delivery is settled already']);
    taken[2]!.ack();
    for (const confirm of confirms) confirm();
    expect([taken[2]!.settled, calls()]).toEqual([true, ['ack all to 3', 'close']]);
  });

  it('ends without them after closeTimeout, and says how many may be in both queues', async () => {
    const { confirms, calls, clock, isClosed, happened } = await closed();
    confirms[0]!();
    clock.advance(5_000);
    await settle();
    expect([calls(), isClosed()]).toEqual([['ack 1', 'close'], true]);
    expect(happened.filter((line) => line.includes("'q'"))).toEqual([
      "the consumer of queue 'q' closed while messages were being republished, and the server did not confirm 1 of them within " +
        '5000 ms: they return to the queue, and may be republished as well',
    ]);
  });

  it('ends when the connection is lost', async () => {
    const { session, isClosed, happened, clock } = await closed();
    session().end(lost);
    await settle();
    expect([isClosed(), happened]).toEqual([true, ['started', 'left']]);
    expect(clock.nextWakeUp()).toBeUndefined();
  });
});

describe('where the server allows no further channel', () => {
  it('a consumer does not start, and says why', async () => {
    const { happened } = arrange({ noChannel: true });
    await settle();
    expect(happened).toEqual([
      'left',
      "not started: queue 'q' cannot be consumed: all 1 channels are open; raise channel_max of the server",
    ]);
  });

  it('a consumer that had started tries again', async () => {
    const { clock, consumer, sessions, session, happened, server } = arrange();
    session().begin();
    session().end(new ConnectionClosedError('server', 'host:5672', 'gone'));
    server.noChannel = true;
    consumer.begin();
    await settle();
    server.noChannel = false;
    clock.advance(1_000);
    session().begin();
    expect([sessions.length, happened]).toEqual([3, ['started']]);
  });
});
