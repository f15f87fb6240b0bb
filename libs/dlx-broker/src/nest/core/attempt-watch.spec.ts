import { expect, it } from 'vitest';
import { Message } from '../../engine/message/index.js';
import { ManualClock } from '../testing/manual-clock.js';
import type { EventLog } from '../log/event-log.js';
import { AttemptWatch, type WatchedAttempt } from './attempt-watch.js';

const limit = 3_000;
const late = new Error(
  `PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: ${limit} ms.`,
);

function arrange() {
  const clock = new ManualClock();
  const log = { write: () => undefined } as unknown as EventLog;
  const watch = new AttemptWatch({ clock, now: undefined, consumerTimeout: undefined }, Infinity, log);
  const attempt = (id: string | undefined, body: string, origin = 'Jobs.work'): WatchedAttempt => {
    const message = new Message('', 'q', id === undefined ? {} : { messageId: id }, Buffer.from(body));
    return {
      delivery: { message, queue: 'q', settled: true, redelivered: true },
      planned: { handler: { origin }, queue: 'q' },
      context: { isSettledByHand: false, isAborted: false, abort: () => undefined },
      own: { runInAsyncScope: (act: () => void) => act() },
    } as unknown as WatchedAttempt;
  };
  const takeBack = (...attempts: WatchedAttempt[]): void => {
    for (const each of attempts) watch.begin(each);
    clock.advance(limit);
    watch.interrupted('q', late, false);
    for (const each of attempts) watch.end(each);
  };
  return { clock, watch, attempt, takeBack };
}

it('an attempt whose message was taken back counts once, for its own handler, also after another replica had the message', () => {
  const { clock, watch, attempt, takeBack } = arrange();
  takeBack(attempt('1', 'a'), attempt('1', 'a'));
  clock.advance(9 * limit);
  expect(watch.takenBack(attempt('1', 'a', 'Jobs.other'))).toBeUndefined();
  expect(watch.takenBack(attempt('2', 'a'))).toBeUndefined();
  const counted = Array.from({ length: 3 }, () => watch.takenBack(attempt('1', 'a'))?.name);
  expect(counted).toEqual(['HandlerTimeoutError', 'HandlerTimeoutError', undefined]);
});

it('messages without an id are known by their bodies, and are waited for no longer than ten times the limit', () => {
  const { clock, watch, attempt, takeBack } = arrange();
  takeBack(attempt(undefined, 'a'), attempt(undefined, 'b'));
  expect(watch.takenBack(attempt('a', 'a'))).toBeUndefined();
  expect(watch.takenBack(attempt(undefined, 'a'))?.name).toBe('HandlerTimeoutError');
  clock.advance(10 * limit + 1);
  expect(watch.takenBack(attempt(undefined, 'b'))).toBeUndefined();
});
