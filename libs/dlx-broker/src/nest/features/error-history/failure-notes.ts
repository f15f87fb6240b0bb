import { hostname } from 'node:os';
import type { Clock } from '../../../engine/broker/index.js';
import {
  addEntry,
  attemptOf,
  cutTo,
  type ErrorEntry,
  errorHeaders,
  fingerprintOf,
  isFingerprint,
  longestFingerprint,
  mostErrorMessage,
  readHistory,
  retryHeaders,
  writeHistory,
} from '../../../platform/history/index.js';
import {
  emptyTable,
  type Field,
  type FieldTable,
  longstr,
  Repeated,
  RepeatedField,
} from '../../../engine/message/index.js';
import { shown } from '../../../platform/options/index.js';
import { DlxContext } from '../../core/context.js';
import type { EventLog } from '../../log/event-log.js';
import { namedError, type NamedError, stackTextOf } from '../../core/failure.js';
import { errorFacts, textOf } from '../../core/failure-log.js';
import type { Failed } from '../../core/handler.js';
import type { ResolvedFeatures } from '../options.js';

/** The most characters of the headers of an error. */
interface ErrorLimits {
  readonly stack: number;
  readonly message: number;
}

export type NotesOptions = Pick<ResolvedFeatures, 'errorHeaders' | 'errorHistory' | 'fingerprint'>;

/** Makes the headers that describe a failure: the error, the history of errors, and the fingerprint. It never throws. */
export class FailureNotes {
  readonly #host = hostname();
  readonly #lastNoted = new Repeated<FieldTable>();
  readonly #lastDescribed = new Repeated<FieldTable>();
  readonly #repeated = {
    class: new RepeatedField(longstr),
    message: new RepeatedField(longstr),
    stack: new RepeatedField(longstr),
  };
  #hasFailed = false;

  constructor(
    private readonly options: NotesOptions,
    private readonly clock: Clock,
    private readonly log: EventLog,
  ) {}

  /** `dlx-error-*` of an error. */
  ofError(error: unknown): FieldTable {
    const { errorHeaders: limits } = this.options;
    return limits === undefined ? emptyTable : this.#described(error, limits);
  }

  /** `dlx-error-*` and `dlx-errors` of a failure. */
  headers(failed: Failed): FieldTable {
    const { errorHistory, errorHeaders: limits } = this.options;
    const named = namedError(failed.error);
    const described = limits === undefined ? emptyTable : this.#described(failed.error, limits, named);
    if (errorHistory === 0) return described;
    const { delivery, handling } = failed;
    const begunAt = handling?.context.begunAt;
    const { own } = delivery.message;
    const attempt = attemptOf(delivery.message, delivery.queue);
    const now = this.clock.now();
    const handler = handlerOf(failed);
    const took = begunAt === undefined ? undefined : now - begunAt;
    return this.#lastNoted.of([described, own.headers, attempt, now, named.name, named.message, handler, took], () => {
      const entry = this.#entry(named, attempt, now, handler, took);
      const headers = new Map<string, Field>(described);
      writeHistory(headers, addEntry(readHistory(own.headers), entry, errorHistory));
      return headers;
    });
  }

  /** The headers of a message that is rejected. */
  ofRejected(failed: Failed): FieldTable {
    return new Map(this.headers(failed)).set(retryHeaders.fingerprint, longstr(this.fingerprint(failed)));
  }

  /** The fingerprint of a failure: by the option, or else the calculated one. */
  fingerprint(failed: Failed): string {
    const { fingerprint } = this.options;
    if (fingerprint === undefined) return this.#calculated(failed);
    try {
      const { error, delivery, handling } = failed;
      const answer: unknown = fingerprint(error, handling?.context ?? new DlxContext(delivery));
      if (isFingerprint(answer)) return answer;
      void Promise.resolve(answer).catch(() => undefined); // an unhandled rejection would end the process
      this.#report(new TypeError(`it returned ${shownAnswer(answer)}`));
    } catch (fault) {
      this.#report(fault);
    }
    return this.#calculated(failed);
  }

  /** By what the headers of the message tell, so that a reader calculates the same. */
  #calculated(failed: Failed): string {
    const { name, message } = namedError(failed.error);
    const { errorHeaders: limits } = this.options;
    const told = limits === undefined ? message : message.slice(0, limits.message);
    return fingerprintOf(handlerOf(failed) ?? failed.delivery.queue, name, told);
  }

  /** @param now milliseconds since 1970 @param took milliseconds */
  #entry(
    { name, message }: NamedError,
    attempt: number,
    now: number,
    handler: string | undefined,
    took: number | undefined,
  ): ErrorEntry {
    const most = Math.min(this.options.errorHeaders?.message ?? mostErrorMessage, mostErrorMessage);
    return {
      attempt,
      at: new Date(now),
      name,
      message: cutTo(message, most),
      ...(handler !== undefined && { handler }),
      host: this.#host,
      ...(took !== undefined && { took }),
    };
  }

  /** The headers that describe an error: its class, its message, and the beginning of its stack. */
  #described(error: unknown, limits: ErrorLimits, { name, message } = namedError(error)): FieldTable {
    const text = message.slice(0, limits.message);
    const stack = limits.stack > 0 ? stackTextOf(error)?.slice(0, limits.stack) : undefined;
    return this.#lastDescribed.of([name, text, stack], () => {
      const headers = new Map<string, Field>();
      headers.set(errorHeaders.class, this.#repeated.class.of(name));
      headers.set(errorHeaders.message, this.#repeated.message.of(text));
      if (stack !== undefined) headers.set(errorHeaders.stack, this.#repeated.stack.of(stack));
      return headers;
    });
  }

  #report(fault: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const text =
      `option 'fingerprint' failed (${textOf(fault)}); it has to return a string of 1 to ${longestFingerprint} characters, and no ` +
      'promise. The calculated fingerprint is used, and further failures are not logged';
    this.log.write('fingerprintFailed', text, errorFacts(fault));
  }
}

const shownAnswer = (answer: unknown): string =>
  typeof answer === 'string' ? `a string of ${answer.length} characters` : shown(answer);

const handlerOf = ({ planned, isUnhandled }: Failed): string | undefined =>
  isUnhandled === true ? undefined : planned.handler.origin;
