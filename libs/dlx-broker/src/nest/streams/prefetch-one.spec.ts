import { setImmediate as soon } from 'node:timers/promises';
import { mergeAll, mergeMap, type OperatorFunction } from 'rxjs';
import { expect, it } from 'vitest';
import { deadQueue, lettersHarness } from '../../../../../test/harnesses/letters-harness.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { groupByError, groupByQueue, groupByReason, tapDeaths, where, whereDecoded, whereReason } from './passing.js';
import { parkWhen, redriveTo, retryWithBackoff, throttleRedrive } from './settling.js';

const count = 40;
type Operator = OperatorFunction<ConsumedLetter, unknown>;

/** What each operator is to do with forty letters, and where they lie then. What it lets through is acked. */
const operators: Readonly<Record<string, readonly [Operator, Readonly<Record<string, number>>]>> = {
  'where, all': [where(() => true), {}],
  'where, every second is left': [where(({ payload }) => Number(payload) % 2 === 0), { [deadQueue]: 20 }],
  'where, none, acked': [where(() => false, { otherwise: 'ack' }), {}],
  'where, none, rejected': [where(() => false, { otherwise: 'reject' }), { graveyard: count }],
  'where, none, parked later': [where(() => false, { otherwise: (letter) => letter.park('lot') }), { lot: count }],
  'where, none, parked in a while': [
    where(() => false, { otherwise: (letter) => void soon().then(() => letter.park('lot')) }),
    { lot: count },
  ],
  whereDecoded: [whereDecoded(), {}],
  'whereReason, none': [whereReason('maxlen'), { [deadQueue]: count }],
  redriveTo: [redriveTo('hospital'), { hospital: count }],
  throttleRedrive: [throttleRedrive({ perSecond: 1_000, to: 'hospital' }), { hospital: count }],
  retryWithBackoff: [retryWithBackoff({ attempts: 5, backoff: '1h' }), { 'wait.3600000': count }],
  'retryWithBackoff, parking': [retryWithBackoff({ attempts: 1 }), { 'orders.parked': count }],
  parkWhen: [parkWhen(() => true, 'lot'), { lot: count }],
  tapDeaths: [tapDeaths(async () => soon()), {}],
  groupByReason: [(letters) => letters.pipe(groupByReason(), mergeAll()), {}],
  groupByError: [(letters) => letters.pipe(groupByError(), mergeAll()), {}],
  'groupByQueue, not subscribed': [(letters) => letters.pipe(groupByQueue()), { [deadQueue]: count }],
  'all of them': [
    (letters) =>
      letters.pipe(
        whereDecoded(),
        tapDeaths(() => undefined),
        whereReason('rejected'),
        groupByQueue(),
        mergeAll(),
        parkWhen(({ payload }) => Number(payload) < 10, 'lot'),
        redriveTo('hospital'),
      ),
    { lot: 10, hospital: 30 },
  ],
};

it.each(Object.entries(operators))('with a prefetch of 1: %s comes to the last letter', async (_, [operator, ends]) => {
  const { letters, broker, clock, die } = await lettersHarness();
  die(...Array.from({ length: count }, (_none, index) => String(index)));
  const failures: unknown[] = [];
  letters.failures.subscribe(({ failure }) => failures.push(failure));
  const subscription = letters
    .from(deadQueue, { prefetch: 1, leaveAtMost: 50 })
    .pipe(
      operator,
      mergeMap(async (passed) => {
        const letter = passed as ConsumedLetter;
        await soon();
        if (letter.open) letter.ack?.();
      }),
    )
    .subscribe({ error: (error) => failures.push(error) });
  for (let turn = 0; turn < 200; turn++) {
    await soon();
    clock.advance(1);
  }
  subscription.unsubscribe();
  const lying: Record<string, number> = {};
  for (const [name, { length, unacked }] of broker.virtualHost('/').queues) {
    if (length + unacked > 0) lying[name] = length + unacked;
  }
  expect([failures, lying]).toEqual([[], ends]);
});
