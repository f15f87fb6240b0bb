import { AsyncResource } from 'node:async_hooks';
import { isObservable, lastValueFrom } from 'rxjs';
import { ConnectionLostError } from '../../../backends/index.js';
import type { DlxContext } from '../../core/context.js';
import type { DeliveryTimers } from '../../core/delivery-timers.js';
import type { Handler } from '../../core/handler.js';
import { FilteredFailure } from '../../handlers/capture.js';
import { DlxBatchContext } from './batch-context.js';
import type { BatchSetting } from './decorator.js';

/** A handler returned results of messages, and not one for each. All messages of the batch fail by it. */
class BatchResultError extends Error {
  override readonly name = 'BatchResultError';

  constructor(origin: string, results: number, messages: number) {
    super(
      `@Batch on ${origin}: it returned ${results} results for ${messages} messages; return one for each, in their order`,
    );
  }
}

/** The call of one message, which ends with the outcome of that message. */
interface Call {
  readonly data: unknown;
  readonly context: DlxContext;
  resolve(result?: unknown): void;
  reject(error: unknown): void;
}

/** The timer ends by itself soon: the calls of messages that returned to their queue have to end too. */
const never = (): boolean => false;

/** Gathers the calls of a handler, and calls it once for many of them. */
export class Gathering {
  readonly #calls: Call[] = [];
  /** Calls the handler, in the async context of the first message; undefined while there is none. */
  #begin: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #isResting = false;

  constructor(
    readonly queue: string,
    private readonly handler: Handler,
    private readonly setting: BatchSetting,
    private readonly timers: DeliveryTimers,
  ) {}

  /** The messages that wait for others. */
  get waiting(): number {
    return this.#calls.length;
  }

  /** @param isResting true: no messages come, so a batch starts although it is not full */
  rest(isResting: boolean): void {
    this.#isResting = isResting;
    if (isResting) this.#run();
  }

  readonly call: Handler['invoke'] = (data, context) =>
    new Promise((resolve, reject) => {
      const { size, within } = this.setting;
      this.#calls.push({ data, context, resolve, reject });
      if (this.#begin === undefined) {
        this.#begin = AsyncResource.bind(() => void this.#invoke(this.#calls.splice(0)));
        this.#cancel = this.timers.after(within, never, () => this.#run());
      }
      if (this.#calls.length >= size || this.#isResting) this.#run();
    });

  #run(): void {
    const begin = this.#begin;
    this.#cancel?.();
    this.#begin = this.#cancel = undefined;
    begin?.();
  }

  /** It never rejects. */
  async #invoke(gathered: readonly Call[]): Promise<void> {
    const calls: Call[] = [];
    for (const call of gathered) {
      const { context, reject } = call;
      if (context.isAborted) reject(context.signal.reason);
      else if (context.isSettled) reject(new ConnectionLostError('the message has returned to its queue', true));
      else calls.push(call);
    }
    const [first, ...others] = calls.map((call) => call.context);
    if (first === undefined) return;
    const context = new DlxBatchContext([first, ...others]);
    try {
      const data = calls.map((call) => call.data);
      const returned: unknown = await this.handler.invoke(data, context);
      const last = isObservable(returned) ? await lastValueFrom(returned, { defaultValue: undefined }) : returned;
      // The promises of messages.map(async ...): to ack before they end could lose messages.
      const result: unknown = Array.isArray(last) && last.some(isPromise) ? await Promise.allSettled(last) : last;
      if (result instanceof FilteredFailure) failAll(calls, context, result.failure);
      else if (Array.isArray(result) && result.some(isResult)) this.#settle(calls, result);
      else for (const { resolve } of calls) resolve();
    } catch (error) {
      failAll(calls, context, error);
    }
  }

  /** Ends each message by its own result. */
  #settle(calls: readonly Call[], returned: readonly unknown[]): void {
    const { length } = calls;
    const results = returned.filter(isResult);
    if (results.length !== length || returned.length !== length) {
      throw new BatchResultError(this.handler.origin, results.length, length);
    }
    for (const [place, call] of calls.entries()) {
      const result = results[place]!;
      if (result.status === 'fulfilled') call.resolve();
      else fail(call, result.reason, result.reason);
    }
  }
}

const isPromise = (each: unknown): boolean => each instanceof Promise;

/** True for an element of what `Promise.allSettled` returns. */
const isResult = (each: unknown): each is PromiseSettledResult<unknown> =>
  typeof each === 'object' &&
  each !== null &&
  'status' in each &&
  ((each.status === 'rejected' && 'reason' in each) || each.status === 'fulfilled');

/** Fails all messages. @param filtered the result of Nest's filters */
function failAll(calls: readonly Call[], context: DlxBatchContext, filtered: unknown): void {
  const error = context.failureOr(filtered);
  for (const call of calls) {
    if (context.hooked) call.context.markHooked();
    fail(call, error, filtered);
  }
}

function fail({ context, reject }: Call, error: unknown, filtered: unknown): void {
  if (!context.isAborted) context.capture(error); // an attempt that is over has its error
  reject(filtered);
}
