import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../engine/broker/index.js';
import { isThenable, shownText, withoutPasswords } from '../../../platform/index.js';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import { errorFacts } from '../../core/failure-log.js';
import { describeError } from '../../core/failure.js';
import type { Feature } from '../../core/feature.js';
import { settingOf } from '../../core/handler-settings.js';
import {
  type Attempt,
  failedBy,
  type Handler,
  type Next,
  type Outcome,
  type PlannedHandler,
  type Step,
} from '../../core/handler.js';
import { RetryLater } from '../../core/outcomes.js';
import type { EventLog } from '../../log/event-log.js';
import { textOfKey } from '../message-key.js';
import { type Idempotence, idempotentDecorator } from './decorator.js';
import { MemoryIdempotencyStore } from './memory-store.js';
import { type Claim, type IdempotencyStore, IdempotencyStoreError } from './store.js';

/** Handles each message once (`@Idempotent`). @param ofModule the option `idempotencyStore` */
export function idempotent(ofModule: IdempotencyStore | undefined, clock: Clock, log: EventLog): Feature {
  const now = (): number => clock.now();
  const guard = new IdempotencyGuard(ofModule ?? new MemoryIdempotencyStore(now), log, now);
  return {
    name: 'idempotent',
    check: (_, handlers) => handlers.forEach(refuseRequests),
    step: (planned) => guard.step(planned),
  };
}

function refuseRequests(handler: Handler): void {
  if (handler.kind !== 'request' || settingOf(handler, idempotentDecorator) === undefined) return;
  throw new DlxConfigurationError(
    `@Idempotent on ${handler.origin}: a request wants an answer each time; put it on events, or keep the answers yourself`,
  );
}

const claims: readonly unknown[] = ['claimed', 'busy', 'done'] satisfies readonly Claim[];

/** Milliseconds after which a message is tried again whose store cannot be asked, without a retry policy. */
const pauseWithoutStore = 1_000;

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

/** Gives each message to its handler once. */
class IdempotencyGuard {
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

  /** The step of a handler. */
  step({ handler }: PlannedHandler): Step | undefined {
    const idempotence = settingOf(handler, idempotentDecorator);
    return idempotence && ((attempt, next) => this.#pass(attempt, idempotence, next));
  }

  async #pass({ planned, data, context }: Attempt, idempotence: Idempotence, next: Next): Promise<Outcome> {
    let own: string | undefined;
    try {
      own = textOfKey(idempotence.key(data, context), '@Idempotent', planned.handler.origin, 'none');
    } catch (error) {
      return failedBy(error, context);
    }
    if (own === undefined) {
      this.#warn(planned);
      return next();
    }
    const { ttl, lease, store = this.defaultStore } = idempotence;
    const key = `${part(planned.queue)}:${own}`;
    const claiming = { store, ttl, lease, key, owner: `${this.#name}-${++this.#claims}`, claimedAt: this.now() };
    let claim: Claim;
    try {
      const claimed = store.claim(key, lease, claiming.owner);
      claim = isThenable(claimed) ? await claimed : claimed;
      if (!claims.includes(claim)) throw new TypeError(`its claim answered none of 'claimed', 'busy' and 'done'`);
    } catch (error) {
      return failedBy(outage(error, planned), context);
    }
    if (claim !== 'claimed') return { failed: false, skipped: claim };
    const outcome = await next();
    await this.#remember(outcome, claiming, planned);
    return outcome;
  }

  /**
   * Stores the outcome before the message is settled, so that a duplicate after a crash in between is recognised. A fault of the
   * store does not change the outcome: a message that was handled would otherwise be handled twice. With an outbox the message was
   * committed before: what it emitted would be lost if its duplicate were recognised after a crash in between.
   */
  async #remember(outcome: Outcome, claiming: Claiming, { handler }: PlannedHandler): Promise<void> {
    const { store, key, owner, ttl } = claiming;
    this.#checkLease(claiming, handler);
    try {
      await (outcome.failed || outcome.isUndone === true ? store.release(key, owner) : store.done(key, ttl));
    } catch (error) {
      const what = outcome.failed ? 'will wait until its lease is over' : 'may be handled again if it comes again';
      const text = `@Idempotent on ${handler.origin}: the message '${shownText(key, 255)}' ${what}: ${describe(error)}`;
      this.log.write('keyNotStored', text, { handler: handler.origin, ...errorFacts(error) });
    }
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
  if (retry === undefined) return new RetryLater(pauseWithoutStore, message);
  return new IdempotencyStoreError(message, { cause: error });
}

/** The error as one line. */
const describe = (error: unknown): string => {
  const { name, message } = describeError(error);
  return shownText(withoutPasswords(message === '' ? name : message), 1_000);
};
