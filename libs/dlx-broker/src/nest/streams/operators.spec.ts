import { lastValueFrom, map, mergeMap, of, take, tap, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';
import { type Field, int64, longstr } from '../../engine/message/index.js';
import type { RetryPolicy } from '../retry/index.js';

import type { ConsumedLetter } from './consumed-letter.js';
import { groupByQueue, where, whereDecoded, whereReason } from './passing.js';
import { TooManyLeftError } from './letter-errors.js';
import { redriveTo, retryWithBackoff } from './settling.js';

const isOdd = ({ payload }: ConsumedLetter<string>): boolean => Number(payload) % 2 === 1;
const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

describe('where', () => {
  it('leaves unwanted letters in their queue without holding up those behind them', async () => {
    const { letters, queue, die } = await arrange();
    die(...numbers(20));
    const odd = letters.from<string>(deadQueue, { prefetch: 3 }).pipe(
      where(isOdd),
      tap((letter) => letter.ack()),
      map(({ payload }) => payload),
      take(10),
      toArray(),
    );
    expect(await lastValueFrom(odd)).toEqual(numbers(20).filter((text) => Number(text) % 2 === 1));
    expect(queue(deadQueue).payloads()).toEqual(numbers(20).filter((text) => Number(text) % 2 === 0));
    expect(queue(deadQueue).consumers).toBe(0);
  });

  it('fails, giving everything back, when more are left than leaveAtMost', async () => {
    const { letters, queue, die } = await arrange();
    die(...numbers(10));
    const none = letters.from(deadQueue, { prefetch: 2, leaveAtMost: 5 }).pipe(where(() => false));
    await expect(lastValueFrom(none)).rejects.toBeInstanceOf(TooManyLeftError);
    expect(queue(deadQueue).payloads()).toEqual(numbers(10));
    expect(queue(deadQueue).consumers).toBe(0);
  });

  it('leaves as many as leaveAtMost, and not one more', async () => {
    const { letters, queue, die } = await arrange();
    die('1', '2', '3');
    const failures: unknown[] = [];
    const stream = letters.from(deadQueue, { prefetch: 5, leaveAtMost: 3 }).pipe(where(() => false));
    const running = stream.subscribe({ error: (error) => failures.push(error) });
    expect([failures.length, queue(deadQueue).unacknowledged]).toEqual([0, 3]);
    die('4');
    expect(failures).toEqual([expect.any(TooManyLeftError)]);
    expect(queue(deadQueue)).toMatchObject({ ready: 4, unacknowledged: 0 });
    running.unsubscribe();
  });

  it('forgets that a letter was left when it is settled after all', async () => {
    const { letters, queue, die } = await arrange();
    const left: ConsumedLetter[] = [];
    const noted = (letter: ConsumedLetter): number => left.push(letter);
    letters
      .from(deadQueue, { prefetch: 1, leaveAtMost: 4 })
      .pipe(where(() => false, { otherwise: noted }))
      .subscribe();
    for (let round = 0; round < 5; round++) {
      die(...numbers(4));
      expect(left).toHaveLength(4);
      for (const letter of left.splice(0)) letter.ack();
    }
    // One for each letter left at the same time, one for the next, and no more as time goes on.
    expect(queue(deadQueue)).toMatchObject({ ready: 0, unacknowledged: 0, consumers: 5 });
  });

  it.each([
    ['ack', { dead: [], graveyard: [] }],
    ['reject', { dead: [], graveyard: ['0', '2'] }],
    ['leave', { dead: ['0', '2'], graveyard: [] }],
    [(letter: ConsumedLetter<string>) => letter.redrive('orders'), { dead: [], graveyard: [] }],
  ] as const)('does with unwanted letters as told: %s', async (otherwise, { dead, graveyard }) => {
    const { letters, queue, die } = await arrange();
    die(...numbers(4));
    const subscription = letters
      .from<string>(deadQueue)
      .pipe(where(isOdd, { otherwise }))
      .subscribe((letter) => letter.ack());
    await Promise.resolve();
    subscription.unsubscribe();
    expect(queue(deadQueue).payloads()).toEqual(dead);
    expect(queue('graveyard').payloads()).toEqual(graveyard);
    if (typeof otherwise === 'function') expect(queue('orders').payloads()).toEqual(['0', '2']);
  });

  it('requeues where another consumer is there to take it (rule J4)', async () => {
    const { letters, die } = await arrange();
    const others: unknown[] = [];
    letters
      .from<string>(deadQueue)
      .pipe(where(isOdd, { otherwise: 'requeue' }))
      .subscribe((letter) => letter.ack());
    letters.from<string>(deadQueue).subscribe((letter) => {
      others.push(letter.payload);
      letter.ack();
    });
    die('0');
    expect(others).toEqual(['0']);
  });
});

describe('whereReason', () => {
  it('goes by the latest death', async () => {
    const { letters, clock, queue, die, publish } = await arrange();
    publish('expiring', { expiration: '1000' });
    clock.advance(1_000);
    die('rejected');
    const got: unknown[] = [];
    const subscription = letters
      .from(deadQueue)
      .pipe(whereReason('expired'))
      .subscribe((letter) => {
        got.push(letter.payload, letter.deaths[0]!.originalExpiration);
        letter.ack();
      });
    expect(got).toEqual(['expiring', '1000']);
    subscription.unsubscribe();
    expect(queue(deadQueue).payloads()).toEqual(['rejected']);
  });

  it('takes several reasons, and never a message that did not die', async () => {
    const { letters, queue, die, publish } = await arrange();
    die('rejected');
    publish('alive', {}, { exchange: '', routingKey: deadQueue });
    letters
      .from(deadQueue)
      .pipe(whereReason(['rejected', 'maxlen'], { otherwise: 'reject' }))
      .subscribe((letter) => letter.ack());
    expect(queue('graveyard').payloads()).toEqual(['alive']);
  });
});

it('whereDecoded narrows the payload and settles what cannot be decoded', async () => {
  const { letters, queue, deadWith } = await arrange();
  deadWith({ contentType: 'application/json' }, new TextEncoder().encode('{'));
  deadWith({ contentType: 'application/json' }, new TextEncoder().encode('{"id":7}'));
  const ids: number[] = [];
  letters
    .from<{ id: number }>(deadQueue)
    .pipe(whereDecoded({ otherwise: 'reject' }))
    .subscribe((letter) => {
      ids.push(letter.payload.id);
      letter.ack();
    });
  expect(ids).toEqual([7]);
  expect(queue('graveyard').ready).toBe(1);
});

describe('groupByQueue', () => {
  it('makes one stream per work queue', async () => {
    const { letters, die, dieIn } = await arrange();
    die('a');
    dieIn('invoices', 'i');
    die('b');
    const groups = letters.from<string>(deadQueue).pipe(
      groupByQueue(),
      mergeMap((group) => group.pipe(map((letter) => (letter.ack(), `${group.key} ${String(letter.payload)}`)))),
      take(3),
      toArray(),
    );
    expect(await lastValueFrom(groups)).toEqual(['orders a', 'invoices i', 'orders b']);
  });

  it('leaves letters of groups without a subscriber', async () => {
    const { letters, queue, die, dieIn } = await arrange();
    die(...numbers(5));
    dieIn('invoices', 'i');
    const got: unknown[] = [];
    const subscription = letters
      .from(deadQueue, { prefetch: 2 })
      .pipe(
        groupByQueue(),
        mergeMap((group) => (group.key === 'invoices' ? group : of())),
      )
      .subscribe((letter) => {
        got.push(letter.payload);
        letter.ack();
      });
    expect(got).toEqual(['i']);
    subscription.unsubscribe();
    expect(queue(deadQueue).payloads()).toEqual(numbers(5));
  });
});

describe('redriveTo', () => {
  it('sends letters to where they came from, or to a target, and emits them when that is done', async () => {
    const { letters, queue, die, dieIn } = await arrange();
    die('a');
    dieIn('invoices', 'i');
    const done = letters.from(deadQueue).pipe(
      redriveTo(({ workQueue }) => (workQueue === 'invoices' ? 'hospital' : undefined)),
      map(({ payload, open }) => [payload, open]),
      take(2),
      toArray(),
    );
    await expect(lastValueFrom(done)).resolves.toEqual([
      ['a', false],
      ['i', false],
    ]);
    expect(queue('orders').payloads()).toEqual(['a']);
    expect(queue('hospital').payloads()).toEqual(['i']);
  });

  it('fails without losing anything when a letter cannot be redriven', async () => {
    const { letters, queue, die } = await arrange();
    die('a', 'b');
    await expect(lastValueFrom(letters.from(deadQueue).pipe(redriveTo('nowhere')))).rejects.toThrow();
    expect(queue(deadQueue).payloads()).toEqual(['a', 'b']);
  });
});

describe('retryWithBackoff', () => {
  it('waits longer with each failure, and parks when the attempts are used up', async () => {
    const { letters, clock, queue, die, reject } = await arrange();
    const log: unknown[] = [];
    letters
      .from(deadQueue)
      .pipe(retryWithBackoff({ attempts: 3, backoff: { type: 'exponential', delay: '10s' } }))
      .subscribe(({ outcome }) => log.push(outcome));
    die('a');
    for (const wait of [10_000, 20_000]) {
      await turn();
      clock.advance(wait - 1);
      expect(queue('orders').ready).toBe(0);
      clock.advance(1);
      expect(queue('orders').payloads()).toEqual(['a']);
      reject('orders');
    }
    await turn();
    expect(log).toEqual([
      { kind: 'retried', delay: 10_000, attempt: 1 },
      { kind: 'retried', delay: 20_000, attempt: 2 },
      { kind: 'parked', queue: 'orders.parked', attempt: 3, why: 'attempts' },
    ]);
    expect(queue('orders.parked').payloads()).toEqual(['a']);
  });

  it('counts every death in the work queue, so that nothing goes round for ever', async () => {
    const { letters, clock, queue, dieIn } = await arrange();
    const log: unknown[] = [];
    letters
      .from(deadQueue)
      .pipe(retryWithBackoff({ attempts: 2, backoff: { type: 'fixed', delay: 100 } }))
      .subscribe(({ outcome }) => log.push(outcome.kind));
    dieIn('expiring', 'e');
    for (let step = 0; step < 8; step++) {
      clock.advance(100);
      await turn();
    }
    expect(log).toEqual(['retried', 'parked']);
    expect(queue('expiring.parked').payloads()).toEqual(['e']);
  });

  describe('decides as @Retry does', () => {
    const failedWith = (name: string): [string, Field][] => [
      ['dlx-error-class', longstr(name)],
      ['dlx-error-message', longstr('the bank is closed')],
    ];

    const outcomeOf = async (policy: Partial<RetryPolicy>, headers: [string, Field][], age?: number) => {
      const { letters, clock, publish, reject } = await arrange();
      const since: [string, Field][] = age === undefined ? [] : [['dlx-failing-since', int64(clock.now() - age)]];
      publish('a', { headers: new Map([...headers, ...since]) });
      clock.advance(3_000);
      reject('orders');
      const done = letters.from(deadQueue).pipe(retryWithBackoff({ attempts: 3, backoff: '10s', ...policy }), take(1));
      return (await lastValueFrom(done)).outcome;
    };

    class BankClosed extends Error {}
    const parked = (why: string) => ({ kind: 'parked', queue: 'orders.parked', attempt: 1, why });
    const retried = { kind: 'retried', delay: 10_000, attempt: 1 };

    it.each<[string, Partial<RetryPolicy>, [string, Field][], object, number?]>([
      ['retryOn, a class by its name', { retryOn: BankClosed }, failedWith('BankClosed'), retried],
      ['retryOn, another class', { retryOn: BankClosed }, failedWith('TypeError'), parked('error')],
      ['retryOn, a function', { retryOn: (error) => /bank/.test(String(error)) }, failedWith('Error'), retried],
      ['retryOn, and nothing tells the error', { retryOn: BankClosed }, [], parked('error')],
      ['neverRetry', { neverRetry: [BankClosed] }, failedWith('BankClosed'), parked('error')],
      ['neverRetry, every error', { neverRetry: Error }, failedWith('string'), parked('error')],
      ['the default of neverRetry', {}, failedWith('ValidationError'), parked('error')],
      ['the default of neverRetry taken away', { neverRetry: [] }, failedWith('ValidationError'), retried],
      ['deadline, since it failed first', { deadline: '15s' }, failedWith('Error'), parked('deadline'), 2_001],
      ['deadline, not over yet', { deadline: '15s' }, failedWith('Error'), retried, 2_000],
      ['deadline, since it died first', { deadline: '10s' }, [], retried],
    ])('%s', async (_, policy, headers, outcome, age) => {
      expect(await outcomeOf(policy, headers, age)).toEqual(outcome);
    });

    it('parks, with what went wrong, when a function of the policy throws or answers no duration', async () => {
      const fault = new Error('a mistake in the policy');
      const fails = (): never => {
        throw fault;
      };
      for (const policy of [{ retryOn: fails }, { neverRetry: fails }, { backoff: fails }]) {
        expect(await outcomeOf(policy, [])).toEqual({ ...parked('policy'), fault });
      }
      const nonsense = { backoff: () => 'soon' };
      expect(await outcomeOf(nonsense, [])).toMatchObject({
        ...parked('policy'),
        fault: { name: 'DlxConfigurationError' },
      });
    });

    it('refuses a timeout, for no attempt runs in a stream', () => {
      expect(() => retryWithBackoff({ attempts: 3, timeout: '1s' })).toThrow(
        /^retryWithBackoff: timeout .* set it in the @Retry of the handler/,
      );
    });
  });

  it('refuses an impossible policy at once', () => {
    expect(() => retryWithBackoff({ attempts: 0, backoff: { type: 'fixed', delay: 1 } })).toThrow(
      /^retryWithBackoff: /,
    );
  });
});

/** Lets promises of declarations and confirms settle. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
