import { Injectable } from '@nestjs/common';
import { Ctx } from '@nestjs/microservices';
import { Bind, Consume, DeadLetter, DlxContext, MaxLength, MaxLengthBytes, Prefetch, Quorum, Ttl } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { direct, fails, Morgue, shop, standing, worker, type Body } from './arrange.js';

const dataOf = (bodies: readonly Body[]): unknown[] => bodies.map(({ data }) => data);
const reasonsOf = (bodies: readonly Body[]): unknown[] => bodies.map(({ context }) => context.deaths[0]?.reason);

/** A handler that never comes to an end. */
const stuck = (): Promise<never> => new Promise(() => undefined);

describe('a message is republished to the dead-letter exchange of its queue when', () => {
  it('its consumer turns it down for good, here by throwing (rule A2)', async () => {
    const { emit, bodies } = await shop({ providers: [worker(fails, DeadLetter('dlx')), Morgue] });
    await emit('work', 'bad');
    expect(dataOf(bodies())).toEqual(['bad']);
    expect(reasonsOf(bodies())).toEqual(['rejected']);
  });

  it('or by rejecting it by hand', async () => {
    const rejects = (_: unknown, context: DlxContext): void => context.reject();
    const { emit, bodies } = await shop({ providers: [worker(rejects, DeadLetter('dlx')), Morgue] });
    await emit('work', 'bad');
    expect(reasonsOf(bodies())).toEqual(['rejected']);
  });

  it('the time to live it came with is over (rule B2)', async () => {
    const { emit, advance, bodies } = await shop({ queues: { idle: { 'x-dead-letter-exchange': 'dlx' } } });
    await emit('idle', 'late', { ...direct, expiration: '5s' });
    await advance(4_999);
    expect(bodies()).toEqual([]);
    await advance(1);
    expect(dataOf(bodies())).toEqual(['late']);
    expect(reasonsOf(bodies())).toEqual(['expired']);
  });

  it('or that of its queue, while its handler is busy with another (rule B1)', async () => {
    const above = [DeadLetter('dlx'), Ttl('5s'), Prefetch(1)];
    const { emit, advance, bodies } = await shop({
      providers: [worker(stuck, ...above), Morgue],
      busy: ['work'],
    });
    await emit('work', 'first');
    await emit('work', 'second');
    await advance('5s');
    expect(dataOf(bodies())).toEqual(['second']);
    expect(reasonsOf(bodies())).toEqual(['expired']);
  });

  it('its queue holds more messages than it may: the oldest goes (rule C1)', async () => {
    const above = [DeadLetter('dlx'), MaxLength(2), Prefetch(1)];
    const { emit, bodies } = await shop({
      providers: [worker(stuck, ...above), Morgue],
      busy: ['work'],
    });
    for (const n of [0, 1, 2, 3]) await emit('work', n);
    expect(dataOf(bodies())).toEqual([1]); // 0 is in the handler's hand
    expect(reasonsOf(bodies())).toEqual(['maxlen']);
  });

  it('or more bytes', async () => {
    const above = [DeadLetter('dlx'), MaxLengthBytes(10), Prefetch(1)];
    const { emit, bodies } = await shop({
      providers: [worker(stuck, ...above), Morgue],
      busy: ['work'],
    });
    for (const text of ['in hand', 'old', 'long one']) await emit('work', text);
    expect(dataOf(bodies())).toEqual(['old']);
    expect(reasonsOf(bodies())).toEqual(['maxlen']);
  });

  it.each(['3.10', '4'] as const)(
    'it came back to a quorum queue more often than the delivery limit (rules D1, W6), profile %s',
    async (rabbitmq) => {
      const attempts: boolean[] = [];
      const puts = (_: unknown, context: DlxContext): void => {
        attempts.push(context.redelivered);
        context.requeue();
      };
      const above = [DeadLetter('dlx'), Quorum({ deliveryLimit: 2 })];
      const { emit, bodies } = await shop({ providers: [worker(puts, ...above), Morgue] }, standing({ rabbitmq }));
      await emit('work', 'again');
      expect(attempts).toEqual([false, true, true]);
      expect(reasonsOf(bodies())).toEqual(['delivery_limit']);
    },
  );
});

it('the delivery limit of a quorum queue may also come from a policy', async () => {
  const dlx = standing();
  const policy = { pattern: '^work$', applyTo: 'queues', definition: { 'delivery-limit': 1 } };
  dlx.broker.virtualHost('/').setPolicy('limit', policy);
  let calls = 0;
  const puts = (_: unknown, context: DlxContext): void => {
    calls++;
    context.requeue();
  };
  const { emit, bodies } = await shop({ providers: [worker(puts, DeadLetter('dlx'), Quorum()), Morgue] }, dlx);
  await emit('work', 'again');
  expect(calls).toBe(2);
  expect(reasonsOf(bodies())).toEqual(['delivery_limit']);
});

describe('a message is not dead-lettered when', () => {
  it('its whole queue expires (rules A8, B12)', async () => {
    const { dlx, emit, advance, bodies } = await shop({
      queues: { brief: { 'x-dead-letter-exchange': 'dlx', 'x-expires': 5_000 } },
    });
    await emit('brief', 'lost', direct);
    await advance('5s');
    expect(dlx.queue('brief').exists).toBe(false);
    expect(bodies()).toEqual([]);
  });

  it('its handler succeeds', async () => {
    const { dlx, emit, bodies } = await shop({ providers: [worker(() => 'done', DeadLetter('dlx')), Morgue] });
    await emit('work', 'good');
    expect(bodies()).toEqual([]);
    expect(dlx.queue('work')).toMatchObject({ ready: 0, unacknowledged: 0 });
  });

  it('it is put back', async () => {
    let calls = 0;
    const once = (_: unknown, context: DlxContext): void => {
      if (calls++ === 0) context.requeue();
    };
    const { emit, bodies } = await shop({ providers: [worker(once, DeadLetter('dlx')), Morgue] });
    await emit('work', 'again');
    expect(calls).toBe(2);
    expect(bodies()).toEqual([]);
  });

  it('its queue has no dead-letter exchange: then it is simply gone (rule A7)', async () => {
    const { dlx, emit, bodies } = await shop({ providers: [worker(fails), Morgue] });
    await emit('work', 'bad');
    expect(bodies()).toEqual([]);
    expect(dlx.queue('work')).toMatchObject({ ready: 0, unacknowledged: 0 });
  });
});

describe('a dead-letter exchange is an ordinary exchange', () => {
  it.each([
    ['direct', 'dead', 'work'],
    ['fanout', 'dead', ''],
    ['topic', 'dead', '*'],
  ] as const)('of type %s', async (type, queue, key) => {
    const { dlx, emit } = await shop({
      providers: [worker(fails, DeadLetter('typed'))],
      exchanges: { typed: type },
      queues: { [queue]: {}, other: {} },
      bindings: [['typed', queue, key], ...(type === 'fanout' ? [] : ([['typed', 'other', 'elsewhere']] as const))],
    });
    await emit('work', 'bad');
    expect(dlx.queue(queue).payloads()).toEqual(['bad']);
    expect(dlx.queue('other').ready).toBe(0);
  });

  it('of type headers, which sees what dead-lettering wrote (rule G8)', async () => {
    const { dlx, emit } = await shop({
      providers: [worker(fails, DeadLetter('typed'))],
      exchanges: { typed: 'headers' },
      queues: { rejected: {}, expired: {} },
      bindings: [
        ['typed', 'rejected', '', { 'x-match': 'all-with-x', 'x-first-death-reason': 'rejected' }],
        ['typed', 'expired', '', { 'x-match': 'all-with-x', 'x-first-death-reason': 'expired' }],
      ],
    });
    await emit('work', 'bad');
    expect(dlx.queue('rejected').payloads()).toEqual(['bad']);
    expect(dlx.queue('expired').ready).toBe(0);
  });

  it('or the default exchange, whose keys are queues (rule G7)', async () => {
    const { dlx, emit } = await shop({ providers: [worker(fails, DeadLetter('', 'grave'))], queues: { grave: {} } });
    await emit('work', 'bad');
    expect(dlx.queue('grave').payloads()).toEqual(['bad']);
  });

  it('to which anybody may publish and bind as well', async () => {
    @Injectable()
    class Curious {
      readonly seen: number[] = [];
      @Consume('curious')
      @Bind('dlx', ['#'])
      look(@Ctx() { deaths }: DlxContext): void {
        this.seen.push(deaths.length);
      }
    }
    const { app, emit, bodies } = await shop({ providers: [worker(fails, DeadLetter('dlx')), Morgue, Curious] });
    await emit('work', 'dead');
    await emit('any', 'alive', { exchange: 'dlx' });
    expect(dataOf(bodies())).toEqual(['dead', 'alive']);
    expect(app.get(Curious).seen).toEqual([1, 0]);
  });
});
