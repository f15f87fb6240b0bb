import { randomBytes } from 'node:crypto';
import { isThenable, shownText, withoutPasswords } from '../../../platform/index.js';
import type { DlxContext } from '../../core/context.js';
import type { EventLog } from '../../log/event-log.js';
import { describeError } from '../../core/failure.js';
import { errorFacts } from '../../core/failure-log.js';
import type { Outcome, PlannedHandler } from '../../core/handler.js';
import { textOfKey } from '../message-key.js';
import { RetryLater } from '../../core/outcomes.js';
import { type Claim, type IdempotencyStore, IdempotencyStoreError } from './store.js';

/** Milliseconds after which a message is tried again while a duplicate of it is being handled. */
export const pauseWhileBusy = 1_000;

/** One claim of one message. */
interface Claiming {
  readonly store: IdempotencyStore;
  readonly key: string;
  readonly owner: string;
  /** Milliseconds. */
  readonly ttl: number;
  readonly lease: number;
  readonly claimedAt: number;
}

type End = (outcome: Outcome) => void;

/** Gives each message to its handler once. */
export class IdempotencyGuard {
  #warned = false;
  /** Handlers whose lease was too short once. */
  readonly #overdue = new Set<PlannedHandler['handler']>();
  readonly #name = randomBytes(9).toString('base64url');
  #claims = 0;

  constructor(
    private readonly defaultStore: IdempotencyStore,
    private readonly log: EventLog,
    /** Milliseconds. */
    private readonly now: () => number,
  ) {}

  /**
   * @param run handles the message, and gets the function to call with the outcome
   * @param skip called instead when the message was handled already, or a duplicate is being handled
   * @param end called with the outcome when the store has it
   */
  pass(
    planned: PlannedHandler,
    data: unknown,
    context: DlxContext,
    run: (end: End) => void,
    skip: (claim: 'busy' | 'done') => void,
    end: End,
  ): void {
    const { idempotence } = planned.handler.settings;
    if (idempotence === undefined) return run(end);
    const fail = (failure: unknown): void => {
      context.capture(failure);
      end({ failed: true, failure });
    };
    let own: string | undefined;
    try {
      own = textOfKey(idempotence.key(data, context), '@Idempotent', planned.handler.origin, 'none');
    } catch (error) {
      return fail(error);
    }
    if (own === undefined) {
      this.#warn(planned);
      return run(end);
    }
    const { ttl, lease, store = this.defaultStore } = idempotence;
    const key = `${part(planned.queue)}:${own}`;
    const claiming = { store, ttl, lease, key, owner: `${this.#name}-${++this.#claims}`, claimedAt: this.now() };
    this.#then(
      () => store.claim(claiming.key, lease, claiming.owner),
      (claim: Claim) => {
        if (claim === 'busy' || claim === 'done') return skip(claim);
        if (claim === 'claimed') return run((outcome) => this.#remember(outcome, claiming, planned, end));
        fail(outage(new TypeError(`its claim answered none of 'claimed', 'busy' and 'done'`), planned));
      },
      (error) => fail(outage(error, planned)),
    );
  }

  /**
   * Stores the outcome before the message is settled, so that a duplicate after a crash in between is recognised. A fault of the
   * store does not change the outcome: a message that was handled would otherwise be handled twice. With an outbox the message was
   * committed before: what it emitted would be lost if its duplicate were recognised after a crash in between.
   */
  #remember(outcome: Outcome, claiming: Claiming, { handler }: PlannedHandler, end: End): void {
    const { store, key, owner, ttl } = claiming;
    this.#checkLease(claiming, handler);
    this.#then(
      () => (outcome.failed || outcome.isUndone === true ? store.release(key, owner) : store.done(key, ttl)),
      () => end(outcome),
      (error) => {
        const what = outcome.failed ? 'will wait until its lease is over' : 'may be handled again if it comes again';
        const text = `@Idempotent on ${handler.origin}: the message '${shownText(key, 255)}' ${what}: ${describe(error)}`;
        this.log.write('keyNotStored', text, { handler: handler.origin, ...errorFacts(error) });
        end(outcome);
      },
    );
  }

  /** Asks the store. An answer that is no promise continues in the same call stack. An answer that cannot be read is a fault of the store. */
  #then<T>(ask: () => T | PromiseLike<T>, next: (answer: T) => void, failed: (error: unknown) => void): void {
    let answer: T | undefined;
    let later: Promise<T> | undefined;
    try {
      const asked = ask();
      if (isThenable(asked)) later = Promise.resolve(asked);
      else answer = asked;
    } catch (error) {
      return failed(error);
    }
    if (later === undefined) return next(answer as T);
    // A rejection that is not handled here would end the process.
    later
      .then(next, failed)
      .catch((error: unknown) =>
        this.log.write('idempotencyFailed', `@Idempotent: ${describe(error)}`, errorFacts(error)),
      );
  }

  /** Warns once for each handler that took longer than its lease: a duplicate may have been handled meanwhile. */
  #checkLease({ lease, claimedAt }: Claiming, handler: PlannedHandler['handler']): void {
    const took = this.now() - claimedAt;
    if (took <= lease || this.#overdue.has(handler)) return;
    this.#overdue.add(handler);
    const text = `@Idempotent on ${handler.origin}: the handler took ${took} ms, longer than its lease of ${lease} ms, so a duplicate of the message may have been handled at the same time; set a longer lease`;
    this.log.write('leaseTooShort', text, { handler: handler.origin, took, lease });
  }

  #warn({ handler }: PlannedHandler): void {
    if (this.#warned) return;
    this.#warned = true;
    const text = `@Idempotent on ${handler.origin}: a message without a key (by default its message id) is handled`;
    this.log.write('keyMissing', text, { handler: handler.origin });
  }
}

/** Queue and key stay distinct, whatever characters they have. */
const part = (queue: string): string => queue.replaceAll('%', '%25').replaceAll(':', '%3A');

/** The error for a message that was not handled: it is retried by the policy, or without one until the store answers. */
function outage(error: unknown, { handler, retry }: PlannedHandler): unknown {
  const message = `@Idempotent on ${handler.origin}: its store cannot be asked: ${describe(error)}`;
  if (retry === undefined) return new RetryLater(pauseWhileBusy, message);
  return new IdempotencyStoreError(message, { cause: error });
}

/** The error as one line. */
const describe = (error: unknown): string => {
  const { name, message } = describeError(error);
  return shownText(withoutPasswords(message === '' ? name : message), 1_000);
};
