import { AsyncResource } from 'node:async_hooks';
import { EMPTY, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { BackendDelivery } from '../../backends/index.js';
import { Message } from '../../engine/message/index.js';
import { type AttemptParts, AttemptRun } from './attempt.js';
import { DlxContext } from './context.js';
import { composed } from './feature.js';
import type { Handler, Outcome, Step } from './handler.js';
import { readSettings } from './handler-settings.js';
import type { Settlement } from './settlement.js';

const parts = {
  settlement: { reports: {} },
  processing: (_: unknown, run: (end: () => void) => void) => run(() => undefined),
  log: { write: () => undefined },
  scope: { isUsed: false },
  watch: { begin: () => 0, end: () => undefined, takenBack: () => undefined },
} as unknown as AttemptParts;

/** An attempt of a handler as it may be added to the server by hand: nothing of Nest stands in between. */
function attemptOf(invoke: Handler['invoke'], step?: Step, settlement = parts.settlement): AttemptRun {
  const delivery = { message: new Message('', 'q', {}, new Uint8Array()), queue: 'q' } as BackendDelivery;
  const handler: Handler = { origin: 'A.b', kind: 'event', patterns: ['x'], settings: readSettings([], 'A.b'), invoke };
  const planned = { handler, queue: 'q', retry: undefined, step };
  const arrival = { delivery, own: new AsyncResource('test'), opened: undefined };
  return new AttemptRun({ ...parts, settlement }, arrival, planned, new DlxContext(delivery), undefined, 1);
}

const outcomeOf = (invoke: Handler['invoke'], step?: Step): Promise<Outcome> =>
  new Promise((resolve, reject) => attemptOf(invoke, step).run(resolve, reject));

it('a message is rescued if a step fails', async () => {
  const found: unknown[] = [];
  const rescue = (taken: unknown, fault: unknown): unknown => found.push(taken === attempt, fault);
  const attempt = attemptOf(
    () => Promise.resolve(1),
    () => Promise.reject(new Error('a bug')),
    { events: {}, rescue } as unknown as Settlement,
  );
  await new Promise<unknown>((resolve) => attempt.runAlone(resolve));
  expect(found).toEqual([true, new Error('a bug')]);
});

it('the steps of a handler surround its call in their order, and may leave it out', async () => {
  const seen: string[] = [];
  const noting =
    (name: string): Step =>
    async (_, next) => {
      seen.push(`${name} begins`);
      const outcome = await next();
      seen.push(`${name} ends`);
      return outcome;
    };
  const invoke = () => Promise.resolve(seen.push('called'));
  await outcomeOf(invoke, composed([noting('one'), noting('two')]));
  expect(seen).toEqual(['one begins', 'two begins', 'called', 'two ends', 'one ends']);
  const skip: Step = () => Promise.resolve({ failed: false, skipped: 'done' });
  expect(await outcomeOf(invoke, composed([skip]))).toEqual({ failed: false, skipped: 'done' });
  expect(seen).toHaveLength(5);
  expect(composed([])).toBeUndefined();
});

describe('a handler succeeds with', () => {
  it.each([undefined, 5, null, EMPTY, of(1, 2)])('%o', async (result) => {
    expect(await outcomeOf(() => Promise.resolve(result))).toEqual({ failed: false });
  });
});

it('a stream that is over succeeds, though its subscription cannot be ended', async () => {
  const stream = {
    lift: () => stream,
    subscribe(observer: { complete(): void }): unknown {
      observer.complete();
      const unsubscribe = (): never => {
        throw new Error('not now');
      };
      return { unsubscribe };
    },
  };
  expect(await outcomeOf(() => Promise.resolve(stream))).toEqual({ failed: false });
});

it('a stream that is over when it is subscribed to is unsubscribed, which ends what it holds', async () => {
  let unsubscribed = 0;
  const stream = {
    lift: () => stream,
    subscribe(observer: { complete(): void }): unknown {
      observer.complete();
      return { unsubscribe: () => void unsubscribed++ };
    },
  };
  expect(await outcomeOf(() => Promise.resolve(stream))).toEqual({ failed: false });
  expect(unsubscribed).toBe(1);
});

describe('a handler fails', () => {
  it('with a value that cannot be read, in a stream or alone', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const getPrototypeOf = (): never => {
      throw new Error('no prototype');
    };
    const one = new Proxy({}, { getPrototypeOf });
    const failure: unknown = expect.objectContaining({ name: 'UnreadableValueError' });
    expect(await outcomeOf(() => Promise.resolve(of(1, proxy, 2)))).toEqual({ failed: true, failure });
    expect(await outcomeOf(() => Promise.resolve(one))).toEqual({ failed: true, failure });
  });

  const error = new Error('no');
  /** Looks like an observable, and breaks the rules. */
  const broken = {
    lift: () => broken,
    subscribe: (): never => {
      throw error;
    },
  };

  it.each<[string, Handler['invoke']]>([
    ['when its promise rejects', () => Promise.reject(error)],
    [
      'when it throws at once',
      () => {
        throw error;
      },
    ],
    ['when its stream fails', () => Promise.resolve(throwError(() => error))],
    ['when its stream cannot be subscribed to', () => Promise.resolve(broken)],
  ])('%s', async (_, invoke) => expect(await outcomeOf(invoke)).toEqual({ failed: true, failure: error }));
});
