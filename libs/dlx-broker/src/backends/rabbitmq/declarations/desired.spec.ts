import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import type { AmqpChannel, AmqpConnection, ChannelEvents } from '../../../amqp/client/api.js';
import { ChannelClosedError } from '../../../amqp/client/errors.js';
import { Pauses } from '../pauses.js';
import { DesiredTopology } from './desired.js';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

/** A server that refuses what the test says, and closes the channel of what it refuses. */
function arrange() {
  const clock = new ManualClock();
  const refusals = new Map<string, ChannelClosedError>();
  const declared: string[] = [];
  const warnings: string[] = [];
  let channels = 0;
  const openChannel = (_events: ChannelEvents): AmqpChannel => {
    channels++;
    let failure: ChannelClosedError | undefined;
    const answer = (name: string, done: (failure?: ChannelClosedError) => void): void => {
      failure ??= refusals.get(name);
      const reason = failure;
      if (reason === undefined) declared.push(name);
      queueMicrotask(() => done(reason));
    };
    return {
      get isOpen() {
        return failure === undefined;
      },
      declareQueue: (name: string, _options: unknown, done: never) => answer(name, done),
      declareExchange: (name: string, _type: string, _options: unknown, done: never) => answer(name, done),
      bindQueue: (queue: string, exchange: string, _key: string, _args: unknown, done: never) =>
        answer(`${exchange}->${queue}`, done),
      close: () => undefined,
    } as unknown as AmqpChannel;
  };
  const connection = { isOpen: true, openChannel };
  const desired = new DesiredTopology(
    clock,
    () => new Pauses(100, 1_000, () => 0.999_999),
    (text) => warnings.push(text),
  );
  const flags = { durable: true, autoDelete: false, arguments: new Map() };
  const queues = ['a', 'b', 'c'].map((name) => ({ ...flags, name, exclusive: false }));
  const exchanges = [{ ...flags, name: 'e', type: 'topic', internal: false }];
  const to = { destination: 'b', destinationType: 'queue', routingKey: 'k', arguments: new Map() } as const;
  desired.add({ exchanges, queues, bindings: [{ source: 'e', ...to }] });
  desired.add({ exchanges, queues, bindings: [{ source: 'e', ...to }] });
  const restore = async (): Promise<void> => {
    declared.length = 0;
    await desired.restore(connection as unknown as AmqpConnection);
  };
  return { clock, refusals, declared, warnings, desired, restore, connection, channels: () => channels };
}

describe('what was declared', () => {
  it('is declared again, each once and in order, on one channel', async () => {
    const { declared, restore, channels } = arrange();
    await restore();
    expect(declared).toEqual(['e', 'a', 'b', 'c', 'e->b']);
    expect(channels()).toBe(1);
  });

  it('but for what the server refuses: the rest is, and there is a warning', async () => {
    const { declared, refusals, restore, warnings, desired } = arrange();
    refusals.set('b', new ChannelClosedError(406, 'PRECONDITION_FAILED - inequivalent arg', 'queue.declare'));
    await restore();
    expect(declared).toEqual(['e', 'a', 'c', 'e->b']);
    expect(warnings).toEqual(["queue 'b' could not be declared again: PRECONDITION_FAILED - inequivalent arg"]);
    expect(desired.isLate('b')).toBe(false);
  });

  it.each([
    [541, 'INTERNAL_ERROR'],
    [404, "NOT_FOUND - home node 'rabbit@b' of durable queue 'b' in vhost '/' is down or inaccessible"],
    [405, 'RESOURCE_LOCKED - cannot obtain exclusive access to locked queue'],
  ])('what the server cannot do now (%i) is tried again until it can, and holds up nothing', async (code, text) => {
    const { clock, declared, refusals, restore, desired, warnings } = arrange();
    refusals.set('b', new ChannelClosedError(code, text, 'queue.declare'));
    await restore();
    expect(declared).toEqual(['e', 'a', 'c', 'e->b']);
    expect(desired.isLate('b')).toBe(true);
    clock.advance(100);
    await settle();
    expect(desired.isLate('b')).toBe(true);
    refusals.clear();
    clock.advance(199); // pauses double
    await settle();
    expect(desired.isLate('b')).toBe(true);
    clock.advance(1);
    await settle();
    expect([declared.at(-1), desired.isLate('b')]).toEqual(['b', false]);
    expect(warnings).toEqual(["queue 'b': the server cannot declare this now; it is tried again"]); // once
  });

  it('is tried again once in a pause, however often everything was declared again', async () => {
    const { clock, refusals, restore, channels } = arrange();
    refusals.set('b', new ChannelClosedError(541, 'INTERNAL_ERROR', 'queue.declare'));
    for (let times = 0; times < 3; times++) await restore();
    const before = channels();
    clock.advance(100);
    await settle();
    expect(channels() - before).toBe(1);
  });

  it('is not tried again on a connection that is gone', async () => {
    const { clock, declared, refusals, restore, connection } = arrange();
    refusals.set('b', new ChannelClosedError(541, 'INTERNAL_ERROR', 'queue.declare'));
    await restore();
    const before = declared.length;
    refusals.clear();
    connection.isOpen = false;
    clock.advance(60_000);
    await settle();
    expect(declared).toHaveLength(before);
  });
});
