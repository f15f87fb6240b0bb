import { describe, expect, it } from 'vitest';
import { type FieldTable, int64, longstr, Message } from '../../engine/message/index.js';
import { headersForRetry, type RetryProgress } from './republished.js';
import { errorHeaders, retryHeaders } from './names.js';

const published = (headers?: FieldTable): Message =>
  new Message('events', 'order', headers === undefined ? {} : { headers }, new Uint8Array());
const failedOnce: RetryProgress = { queue: 'work', attempt: 2, failedAt: 1_000, isParked: false };
const timeout = new Map([[errorHeaders.message, longstr('timeout')]]);
const headersOf = (...of: Parameters<typeof headersForRetry>): FieldTable => headersForRetry(...of).headers;

describe('the headers of a message that is retried', () => {
  it('are one object for messages that fail together', () => {
    const first = headersOf(published(), failedOnce, timeout);
    expect(headersOf(published(), failedOnce, timeout)).toBe(first);
    // The second attempt of both: they have the same headers, and the same first failure.
    const failedTwice = { ...failedOnce, attempt: 3, failedAt: 1_200 };
    const second = headersOf(published(first), failedTwice, timeout);
    expect(headersOf(published(first), { ...failedTwice, failedAt: 1_201 }, timeout)).toBe(second);
    expect(second.get(retryHeaders.since)).toEqual(int64(1_000));
    expect(first.get(retryHeaders.attempt)?.value).toBe(2);
  });

  it.each([
    ['headers', published(new Map([['tenant', longstr('b')]])), failedOnce, timeout],
    ['error', published(), failedOnce, new Map([[errorHeaders.message, longstr('refused')]])],
    ['queue', published(), { ...failedOnce, queue: 'other' }, timeout],
    ['attempt', published(), { ...failedOnce, attempt: 3 }, timeout],
    ['first failure', published(), { ...failedOnce, failedAt: 1_001 }, timeout],
    ['origin', published(), { ...failedOnce, from: { exchange: 'events', routingKey: 'refund' } }, timeout],
    ['end', published(), { ...failedOnce, isParked: true }, timeout],
  ] as const)('are its own if it has another %s', (_what, message, progress, added) => {
    const alone = headersOf(message, progress, added);
    const other = headersOf(published(), failedOnce, timeout);
    const after = headersOf(message, progress, added);
    expect(after).toEqual(alone);
    expect(after).not.toEqual(other);
    expect(headersOf(published(), failedOnce, timeout)).toEqual(other);
  });
});
