import { DeadLetter, MaxLength, Prefetch, Quorum, type DlxContext } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { fails, Morgue, shop, topologyOf, worker } from './arrange.js';

describe('dead-lettering at most once, the usual way', () => {
  it('takes the message out of its queue at once, whether or not another queue gets it (rule A10)', async () => {
    const { dlx, emit } = await shop({ providers: [worker(fails, DeadLetter('nowhere'), Quorum())] });
    await emit('work', 'lost');
    await dlx.backend.declare(topologyOf({ queues: { late: {} }, bindings: [['nowhere', 'late', '#']] }));
    await dlx.advance('1h');
    expect(dlx.queue('late').ready).toBe(0);
  });
});

describe('dead-lettering at least once, for quorum queues', () => {
  const safely = [DeadLetter({ exchange: 'dlx', strategy: 'at-least-once' }), Quorum()];

  it('brings a message over like the usual way, with its history (rule M2)', async () => {
    const { dlx, emit, bodies } = await shop({ providers: [worker(fails, ...safely), Morgue] });
    await emit('work', 'bad');
    await dlx.advance(0);
    expect(bodies().map(({ context }) => context.deaths)).toMatchObject([
      [{ queue: 'work', reason: 'rejected', count: 1 }],
    ]);
  });

  it('keeps a message that no queue takes until a queue does (rule M3)', async () => {
    const { dlx, emit } = await shop({ providers: [worker(fails, ...safely)] });
    await emit('work', 'kept');
    expect(dlx.queue('work').ready).toBe(0); // not to be delivered once more
    await dlx.advance('10m');
    await dlx.backend.declare(topologyOf({ queues: { late: {} }, bindings: [['dlx', 'late', '#']] }));
    await dlx.advance('3m');
    expect(dlx.queue('late').payloads()).toEqual(['kept']);
  });

  it('counts what it keeps: a queue full of it takes no more (rule M5)', async () => {
    const { emit } = await shop({
      providers: [worker(fails, ...safely, MaxLength(2, { overflow: 'reject-publish' }))],
    });
    const refused = async (n: number): Promise<boolean> => {
      try {
        await emit('work', n);
        return false;
      } catch {
        return true;
      }
    };
    const refusals: boolean[] = [];
    for (let n = 0; n < 6; n++) refusals.push(await refused(n));
    expect(refusals).toEqual([false, false, false, true, true, true]);
  });

  it('reaches a target that is full once there is room', async () => {
    const { dlx, emit } = await shop({
      providers: [worker(fails, ...safely)],
      queues: { full: { 'x-max-length': 1, 'x-overflow': 'reject-publish', 'x-message-ttl': 60_000 } },
      bindings: [['dlx', 'full', '#']],
    });
    await emit('work', 'first');
    await emit('work', 'second');
    expect(dlx.queue('full').payloads()).toEqual(['first']);
    await dlx.advance('5m');
    expect(dlx.queue('full').payloads()).toEqual([]); // both came, and both expired in their turn
    await emit('work', 'third');
    expect(dlx.queue('full').payloads()).toEqual(['third']);
  });
});

describe('a backlog of 100 000 messages', () => {
  const messages = 100_000;
  const chunk = 1_000;

  it('is dead-lettered one by one, the last tenth no slower than the first', { timeout: 60_000 }, async () => {
    const marks: number[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let drained = (): void => undefined;
    const end = new Promise<void>((resolve) => (drained = resolve));
    let handled = 0;
    const handle = async (_: unknown, context: DlxContext): Promise<void> => {
      await gate;
      context.reject();
      if (++handled % chunk === 0) marks.push(performance.now());
      if (handled === messages) drained();
    };
    const { dlx, app } = await shop({
      providers: [worker(handle, DeadLetter('dead'), Prefetch(10))],
      exchanges: { dead: 'fanout' },
      queues: { grave: {} },
      bindings: [['dead', 'grave']],
      busy: ['work'],
    });
    const body = Buffer.from('7');
    const work = { exchange: 'dlx.events', routingKey: 'work', properties: { deliveryMode: 2 }, body };
    for (let n = 0; n < messages; n++) dlx.backend.publish(work);
    expect(dlx.queue('work')).toMatchObject({ ready: messages - 10, unacknowledged: 10 });

    open();
    await end;
    await dlx.settled();
    expect(dlx.queue('work')).toMatchObject({ ready: 0, unacknowledged: 0 });
    expect(dlx.queue('grave').ready).toBe(messages);
    // The fastest thousand of each tenth: what else the machine does, and collected garbage, spoil a mean, not these.
    const times = marks.slice(1).map((mark, index) => mark - marks[index]!);
    const first = Math.min(...times.slice(0, 9));
    const last = Math.min(...times.slice(-10));
    expect(last).toBeLessThan(first * 5);
    expect(first).toBeLessThan(last * 5);
    await app.close();
  });
});
