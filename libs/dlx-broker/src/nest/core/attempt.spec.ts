import { describe, expect, it } from 'vitest';
import type { BackendDelivery } from '../../backends/index.js';
import { Message } from '../../engine/message/index.js';
import { Attempt, type AttemptParts } from './attempt.js';
import { DlxContext } from './context.js';
import type { End, Handler, Handling } from './handler.js';
import { readSettings } from './handler-settings.js';

/** Runs a handler, and gives its outcome to a function that throws. @returns what was rescued */
async function rescued(invoke: Handler['invoke'], ended: End, settled: boolean): Promise<readonly unknown[]> {
  const delivery = { message: new Message('', 'q', {}, new Uint8Array()), queue: 'q', settled } as BackendDelivery;
  const handler: Handler = { origin: 'A.b', kind: 'event', patterns: ['x'], settings: readSettings([], 'A.b'), invoke };
  const planned = { handler, queue: 'q', retry: undefined, outbox: undefined };
  const handling: Handling = {
    delivery,
    planned,
    context: new DlxContext(delivery),
    replies: undefined,
    span: undefined,
  };
  const found: unknown[] = [];
  const settlement = {
    notes: { begin: () => undefined },
    rescue: (taken: Handling, fault: unknown, hasFailed: boolean) => found.push(taken === handling, fault, hasFailed),
  };
  const parts = {
    settlement,
    processing: (_: unknown, run: (end: () => void) => void) => run(() => undefined),
    log: { write: () => undefined },
    scope: { isUsed: false },
    watch: { begin: () => undefined, end: () => undefined },
  } as unknown as AttemptParts;
  await new Promise<void>((resolve) => {
    const end: End = (outcome) => {
      setImmediate(resolve);
      ended(outcome);
    };
    new Attempt(parts, handling, 1, undefined, end).begin();
  });
  return found;
}

describe('an attempt whose outcome cannot be passed on', () => {
  const fault = new Error('a bug');
  const failing = (): never => {
    throw fault;
  };

  it('rescues its message', async () => {
    expect(await rescued(() => Promise.resolve(1), failing, false)).toEqual([true, fault, false]);
    expect(await rescued(() => Promise.reject(new Error('no')), failing, false)).toEqual([true, fault, true]);
  });

  it('leaves a message that is settled', async () => {
    expect(await rescued(() => Promise.resolve(1), failing, true)).toEqual([]);
  });
});
