import { DeadLetter } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { direct, fails, Morgue, shop, worker, type Given } from './arrange.js';

describe('a dead letter is routed', () => {
  it('by the routing key it was published with, if its queue names none', async () => {
    const { emit, bodies } = await shop({ providers: [worker(fails, DeadLetter('dlx')), Morgue] });
    await emit('work', 'bad');
    expect(bodies()[0]?.context.message).toMatchObject({ exchange: 'dlx', routingKey: 'work' });
  });

  it('by the one its queue names otherwise', async () => {
    const { emit, bodies } = await shop({ providers: [worker(fails, DeadLetter('dlx', 'bar')), Morgue] });
    await emit('work', 'bad');
    expect(bodies()[0]?.context.message).toMatchObject({ exchange: 'dlx', routingKey: 'bar' });
  });

  /** One queue for each key, and one for the key that `DeadLetter('keys', 'set')` names. */
  const keys = (above: MethodDecorator): Given => ({
    providers: [worker(fails, above)],
    exchanges: { keys: 'direct' },
    queues: { published: {}, cc: {}, bcc: {}, set: {} },
    bindings: [
      ['keys', 'published', 'work'],
      ['keys', 'cc', 'copy'],
      ['keys', 'bcc', 'blind'],
      ['keys', 'set', 'set'],
    ],
  });
  const copies = { cc: ['copy'], bcc: ['blind'] };

  it('by all keys it was published with, those of CC and BCC among them (rule G2)', async () => {
    const { dlx, emit } = await shop(keys(DeadLetter('keys')));
    await emit('work', 'bad', copies);
    const ready = ['published', 'cc', 'bcc', 'set'].map((name) => dlx.queue(name).ready);
    expect(ready).toEqual([1, 1, 1, 0]);
  });

  it('and by none of them once its queue names one', async () => {
    const { dlx, emit } = await shop(keys(DeadLetter('keys', 'set')));
    await emit('work', 'bad', copies);
    const ready = ['published', 'cc', 'bcc', 'set'].map((name) => dlx.queue(name).ready);
    expect(ready).toEqual([0, 0, 0, 1]);
  });

  it('to a queue once, however many of its keys lead there (rule G4)', async () => {
    const { emit, bodies } = await shop({ providers: [worker(fails, DeadLetter('dlx')), Morgue] });
    await emit('work', 'bad', copies);
    expect(bodies()).toHaveLength(1);
  });
});

describe('a circle of dead letters', () => {
  it('forms when a queue dead-letters to the default exchange and names no key; it ends at once without a rejection (rule I4)', async () => {
    const { dlx, emit, advance } = await shop({
      providers: [],
      queues: { idle: { 'x-dead-letter-exchange': '', 'x-message-ttl': 1_000 } },
    });
    await emit('idle', 'round', direct);
    expect(dlx.queue('idle').ready).toBe(1);
    await advance('1s');
    expect(dlx.queue('idle').ready).toBe(0);
  });

  it('ends for a message that reaches the same queue twice, by way of another one', async () => {
    const { dlx, emit, advance } = await shop({
      providers: [],
      queues: {
        one: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'two', 'x-message-ttl': 1_000 },
        two: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'one', 'x-message-ttl': 1_000 },
      },
    });
    await emit('one', 'round', direct);
    await advance('1s');
    expect(dlx.queue('two').payloads()).toEqual(['round']);
    await advance('1s');
    expect([dlx.queue('one').ready, dlx.queue('two').ready]).toEqual([0, 0]);
  });

  it('goes on when there is a rejection in it: so a wait queue works (rule I2)', async () => {
    const seen: number[] = [];
    const { dlx, emit, advance } = await shop({
      providers: [
        worker(
          (_, { deaths }) => {
            seen.push(deaths.find(({ queue }) => queue === 'work')?.count ?? 0);
            return fails();
          },
          DeadLetter('', 'wait'),
        ),
      ],
      queues: { wait: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'work', 'x-message-ttl': 60_000 } },
    });
    await emit('work', 'again');
    await advance('1h');
    expect(seen).toEqual(Array.from({ length: 61 }, (_, n) => n));
    expect(dlx.queue('wait').ready).toBe(1);
  });

  it('loses only the message that goes round: another queue of the same exchange gets it (rule I3)', async () => {
    const { dlx, emit, advance } = await shop({
      providers: [],
      exchanges: { round: 'fanout' },
      queues: { idle: { 'x-dead-letter-exchange': 'round', 'x-message-ttl': 1_000 }, other: {} },
      bindings: [
        ['round', 'idle'],
        ['round', 'other'],
      ],
    });
    await emit('idle', 'round', direct);
    await advance('1s');
    expect(dlx.queue('idle').ready).toBe(0);
    expect(dlx.queue('other').payloads()).toEqual(['round']);
  });

  it('needs no wait to go on: it ends when the handler takes the message', async () => {
    let rounds = 0;
    const around = (): void => {
      if (++rounds < 1_000) fails();
    };
    const { emit, dlx } = await shop({ providers: [worker(around, DeadLetter('', 'work'))] });
    await emit('work', 'round');
    expect(rounds).toBe(1_000);
    expect(dlx.queue('work')).toMatchObject({ ready: 0, unacknowledged: 0 });
  });
});
