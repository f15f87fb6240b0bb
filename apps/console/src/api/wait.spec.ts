import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pauseOfTyping } from './wait';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('asks once for a word of three keys, and leaves no timer', async () => {
  const asked: string[] = [];
  let last = new AbortController();
  for (const text of ['o', 'or', 'ord']) {
    last.abort();
    last = new AbortController();
    pauseOfTyping(last.signal).then(
      () => asked.push(text),
      () => undefined,
    );
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(300);
  expect([asked, vi.getTimerCount()]).toEqual([['ord'], 0]);
});
