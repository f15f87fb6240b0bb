import { hostname } from 'node:os';
import type { BackendDelivery } from '../../backend/index.js';
import type { Clock } from '../../broker/index.js';
import { addEntry, attemptOf, cutTo, type ErrorEntry, fingerprintOf, isFingerprint } from '../../history/index.js';
import { longestFingerprint, mostErrorMessage, readHistory, retryHeaders, writeHistory } from '../../history/index.js';
import { emptyTable, type Field, type FieldTable, longstr } from '../../message/index.js';
import { shown } from '../../options/index.js';
import { DlxContext } from '../context.js';
import type { EventLog } from '../event-log.js';
import { failureHeaders, namedError } from '../failure.js';
import { errorFacts, textOf } from '../failure-log.js';
import type { PlannedHandler } from '../handler.js';
import type { ResolvedOptions } from '../options.js';

/** A message whose handler failed, or that no handler could take. */
export interface NotedAttempt {
  readonly delivery: BackendDelivery;
  /** The error as it was thrown. */
  readonly error: unknown;
  readonly planned?: PlannedHandler | undefined;
  readonly context?: DlxContext | undefined;
  /** When its handler began, in milliseconds since 1970; undefined if none did. */
  readonly begunAt?: number | undefined;
  /** True if no handler had the message. */
  readonly isUnhandled?: boolean | undefined;
}

type NotesOptions = Pick<ResolvedOptions, 'errorHeaders' | 'errorHistory' | 'fingerprint'>;

/** Makes the headers that describe a failure: the error, the history of errors, and the fingerprint. It never throws. */
export class FailureNotes {
  readonly #host = hostname();
  #hasFailed = false;

  constructor(
    private readonly options: NotesOptions,
    private readonly clock: Clock,
    private readonly log: EventLog,
  ) {}

  /** The time at which an attempt begins; undefined without a history. */
  begin(): number | undefined {
    return this.options.errorHistory === 0 ? undefined : this.clock.now();
  }

  /** `dlx-error-*` of an error. */
  ofError(error: unknown): FieldTable {
    const { errorHeaders } = this.options;
    return errorHeaders === undefined ? emptyTable : failureHeaders(error, errorHeaders);
  }

  /** `dlx-error-*` and `dlx-errors` of a failure. */
  headers(failed: NotedAttempt): FieldTable {
    const { errorHistory } = this.options;
    const headers = this.ofError(failed.error);
    if (errorHistory === 0) return headers;
    const all = new Map<string, Field>(headers);
    const { own } = failed.delivery.message;
    writeHistory(all, addEntry(readHistory(own.headers), this.#entry(failed), errorHistory));
    return all;
  }

  /** The headers of a message that is rejected. */
  ofRejected(failed: NotedAttempt): FieldTable {
    return new Map(this.headers(failed)).set(retryHeaders.fingerprint, longstr(this.fingerprint(failed)));
  }

  /** The fingerprint of a failure: by the option, or else the calculated one. */
  fingerprint(failed: NotedAttempt): string {
    const { fingerprint } = this.options;
    if (fingerprint === undefined) return this.#calculated(failed);
    try {
      const { error, delivery, context = new DlxContext(delivery) } = failed;
      const answer: unknown = fingerprint(error, context);
      if (isFingerprint(answer)) return answer;
      void Promise.resolve(answer).catch(() => undefined); // an unhandled rejection would end the process
      this.#report(new TypeError(`it returned ${shownAnswer(answer)}`));
    } catch (fault) {
      this.#report(fault);
    }
    return this.#calculated(failed);
  }

  /** The fingerprint for an event, if it is wanted. A message that is retried has none. */
  group(
    kind: 'retried' | 'parked' | 'rejected',
    failed: NotedAttempt,
    events: { hears(kind: 'parked' | 'rejected'): boolean },
  ): { readonly fingerprint?: string } {
    return kind !== 'retried' && events.hears(kind) ? { fingerprint: this.fingerprint(failed) } : {};
  }

  /** By what the headers of the message tell, so that a reader calculates the same. */
  #calculated(failed: NotedAttempt): string {
    const { name, message } = namedError(failed.error);
    const { errorHeaders } = this.options;
    const told = errorHeaders === undefined ? message : message.slice(0, errorHeaders.message);
    return fingerprintOf(handlerOf(failed) ?? failed.planned?.queue ?? failed.delivery.queue, name, told);
  }

  #entry(failed: NotedAttempt): ErrorEntry {
    const { delivery, error, planned, begunAt } = failed;
    const { name, message } = namedError(error);
    const most = Math.min(this.options.errorHeaders?.message ?? mostErrorMessage, mostErrorMessage);
    const now = this.clock.now();
    const handler = handlerOf(failed);
    return {
      attempt: attemptOf(delivery.message, planned?.queue ?? delivery.queue),
      at: new Date(now),
      name,
      message: cutTo(message, most),
      ...(handler !== undefined && { handler }),
      host: this.#host,
      ...(begunAt !== undefined && { took: now - begunAt }),
    };
  }

  #report(fault: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const text =
      `option 'fingerprint' failed (${textOf(fault)}); it has to return a text of 1 to ${longestFingerprint} characters, and no ` +
      'promise. The calculated fingerprint is used, and further failures are not logged';
    this.log.tell('fingerprintFailed', text, errorFacts(fault));
  }
}

const shownAnswer = (answer: unknown): string =>
  typeof answer === 'string' ? `a text of ${answer.length} characters` : shown(answer);

const handlerOf = ({ planned, isUnhandled }: NotedAttempt): string | undefined =>
  isUnhandled === true ? undefined : planned?.handler.origin;
