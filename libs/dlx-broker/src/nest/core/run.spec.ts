import { describe, expect, it } from 'vitest';
import { EMPTY, of, throwError } from 'rxjs';
import type { BackendDelivery } from '../../backends/index.js';
import { Message } from '../../engine/message/index.js';
import { DlxContext } from './context.js';
import type { Handler, Outcome, PlannedHandler } from './handler.js';
import { readSettings } from './handler-settings.js';
import { HandlerRun } from './run.js';

const context = (): DlxContext =>
  new DlxContext({ message: new Message('', 'q', {}, new Uint8Array()), queue: 'q' } as BackendDelivery);

/** Runs a handler as it may be added to the server by hand: nothing of Nest stands in between. */
function outcomeOf(invoke: Handler['invoke']): Promise<Outcome> {
  const handler: Handler = { origin: 'A.b', kind: 'event', patterns: ['x'], settings: readSettings([], 'A.b'), invoke };
  const planned: PlannedHandler = { handler, queue: 'q', retry: undefined, outbox: undefined };
  return new Promise((resolve) => {
    class Run extends HandlerRun {
      protected override end = resolve;
      constructor() {
        super(context(), undefined);
        this.run(planned, 1);
      }
    }
    return new Run();
  });
}

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
