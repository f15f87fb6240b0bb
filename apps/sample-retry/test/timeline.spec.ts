import { Test } from '@nestjs/testing';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AppModule } from '../src/app.module.js';
import { Payments } from '../src/payments.js';
import { runStory } from '../src/story.js';
import { Timeline, type TimelineOutput } from '../src/timeline.js';

let dlx: DlxTesting;
beforeEach(() => {
  dlx = new DlxTesting({ logger: false });
});
afterEach(() => dlx.close());

/** A letter that waits for the fix stays unsettled by the operator. */
const except = ['payments.parked'];

it('runs four payments, to the hundredth of a second', async () => {
  const lines: string[] = [];
  const output: TimelineOutput = { now: () => dlx.clock.now(), write: (line) => void lines.push(line) };
  const app = await dlx.startModule(
    Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(Timeline)
      .useValue(new Timeline(output)),
  );
  const receipts: string[] = [];
  app.get(Payments).receipts.subscribe(({ id }) => receipts.push(id));
  const story = runStory(app, () => dlx.advance('1s', { except }));
  await dlx.advance('3.5s', { except });
  await story;
  await dlx.settled();
  expect(lines).toEqual([
    ' elapsed  message  attempt  what happened',
    '  0.00 s  pay-1    1        paid 30 EUR',
    '  0.00 s  pay-2    1        BankTimeout: no answer; again in 500 ms',
    '  0.00 s  pay-3    1        UnknownCurrency: JPY; again in 500 ms',
    '  0.50 s  pay-2    2        BankTimeout: no answer; again in 1000 ms  [wait.500 expired 1, payments rejected 1]',
    '  0.50 s  pay-3    2        UnknownCurrency: JPY; again in 1000 ms  [wait.500 expired 1, payments rejected 1]',
    '  1.50 s  pay-2    3        paid 20 USD  [wait.1000 expired 1, payments rejected 2, wait.500 expired 1]',
    '  1.50 s  pay-3    3        UnknownCurrency: JPY; again in 2000 ms  [wait.1000 expired 1, payments rejected 2, wait.500 expired 1]',
    '  3.50 s  pay-3    4        UnknownCurrency: JPY; that was the last attempt  [wait.2000 expired 1, payments rejected 3, wait.1000 expired 1, wait.500 expired 1]',
    '  3.50 s  pay-3             parked after 4 failures, the last: UnknownCurrency',
    '  4.50 s                    the bank learns about JPY',
    '  4.50 s  pay-3             redriven to where it came from',
    '  4.50 s  pay-3    1        paid 10 JPY',
    '  4.50 s  pay-4    1        BankAway: closed for a moment; held until it is back',
    '  5.50 s  pay-4    1        paid 40 EUR  [wait.1000 expired 1]',
  ]);
  expect(receipts).toEqual(['pay-1', 'pay-2', 'pay-3', 'pay-4']); // one each, however many attempts it took
  for (const queue of ['payments', 'payments.parked', 'wait.500', 'wait.1000', 'wait.2000']) {
    expect(dlx.queue(queue)).toMatchObject({ ready: 0, unacknowledged: 0 });
  }
});
