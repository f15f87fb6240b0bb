import { setImmediate as soon } from 'node:timers/promises';
import { finalize, lastValueFrom, mergeMap, NEVER, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { DeadLetters } from './dead-letters.js';
import { ConsumerCancelledError } from './letter-errors.js';
import { where } from './passing.js';
import { Redrives } from './redrives.js';

describe('DeadLetters.close ends what an application subscribed to itself', () => {
  it.each<[string, string | readonly string[] | RegExp]>([
    ['a queue', deadQueue],
    ['several', [deadQueue, 'graveyard']],
    ['a pattern', /^orders\.dead$/],
  ])('from %s: it completes, and what is in hand or left goes back in order (rule J2)', async (_, queues) => {
    const { letters, queue, clock, die } = await arrange();
    die('a', 'b', 'c');
    const seen: unknown[] = [];
    let completed = 0;
    letters
      .from(queues)
      .pipe(where(({ payload }) => payload !== 'b'))
      .subscribe({ next: ({ payload }) => seen.push(payload), complete: () => completed++ });
    for (let turn = 0; turn < 5; turn++) await soon();
    expect([seen, completed]).toEqual([['a', 'c'], 0]);
    letters.close();
    expect(completed).toBe(1);
    expect(queue(deadQueue)).toMatchObject({ ready: 3, unacknowledged: 0, consumers: 0 });
    expect(queue(deadQueue).payloads()).toEqual(['a', 'b', 'c']);
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('also while a function of the application hangs, whose letter can be settled no longer', async () => {
    const { letters, queue, die } = await arrange();
    die('a');
    letters
      .from(deadQueue)
      .pipe(mergeMap(() => NEVER))
      .subscribe();
    letters.close();
    expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0, consumers: 0 });
  });

  it('and a function that hangs for half an hour loses the consumer, as in RabbitMQ 3.10 (rule Q8)', async () => {
    const { letters, queue, clock, die } = await arrange({ rabbitmq: '3.10' });
    die('a');
    const failed = lastValueFrom(letters.from(deadQueue).pipe(mergeMap(() => NEVER)));
    clock.advance('29m');
    expect(queue(deadQueue)).toMatchObject({ ready: 0, unacknowledged: 1 });
    clock.advance('2m');
    await expect(failed).rejects.toBeInstanceOf(ConsumerCancelledError);
    expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
  });

  it('and what begins after it is over at once', async () => {
    const { letters, queue, die } = await arrange();
    die('a');
    const before = letters.from(deadQueue);
    letters.close();
    expect(await lastValueFrom(before.pipe(toArray()))).toEqual([]);
    expect(await lastValueFrom(letters.from([deadQueue]).pipe(toArray()))).toEqual([]);
    expect(queue(deadQueue)).toMatchObject({ ready: 1, consumers: 0 });
  });

  it('also when an operator throws at the end of its pipeline', async () => {
    const { backend, queue, die } = await arrange();
    const thrown: unknown[][] = [];
    const letters = new DeadLetters(backend, { endFailed: (...failure) => void thrown.push(failure) });
    die('a', 'b');
    const down = new Error('down');
    const fail = finalize<ConsumedLetter>(() => {
      throw down;
    });
    letters.run(deadQueue, (all) => all.pipe(fail), { prefetch: 1 });
    letters.run([deadQueue], (all) => all.pipe(mergeMap(() => NEVER)), { prefetch: 1 });
    letters.from(deadQueue).subscribe();
    expect(queue(deadQueue)).toMatchObject({ ready: 0, unacknowledged: 2, consumers: 3 });
    letters.close();
    expect(queue(deadQueue)).toMatchObject({ ready: 2, unacknowledged: 0, consumers: 0 });
    expect(thrown).toEqual([[expect.objectContaining({ errors: [down] }), deadQueue]]);
  });

  it('and knows before which letters will return: neither settled nor left', async () => {
    const { letters, die } = await arrange();
    die('a', 'b', 'c', 'd');
    letters
      .from(deadQueue)
      .pipe(where(({ payload }) => payload !== 'b'))
      .subscribe((letter) => {
        if (letter.payload === 'a') letter.ack();
        if (letter.payload === 'c') letter.leave();
      });
    expect([...letters.unsettled()]).toEqual([[deadQueue, 1]]);
    letters.close();
    expect([...letters.unsettled()]).toEqual([]);
  });

  it('a redrive that is under way is cancelled, and not done', async () => {
    const { backend, letters, queue, die, clock } = await arrange();
    die('a', 'b', 'c');
    const task = new Redrives(backend, letters).start({
      from: deadQueue,
      to: 'hospital',
      perSecond: 1,
      circuit: false,
    });
    for (let turn = 0; turn < 5; turn++) await soon();
    letters.close();
    const { state, redriven } = await task.ended;
    expect([state, redriven]).toEqual(['cancelled', 1]);
    expect(queue(deadQueue)).toMatchObject({ ready: 2, unacknowledged: 0 });
    expect(clock.nextWakeUp()).toBeUndefined();
  });
});
