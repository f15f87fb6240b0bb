import { HttpException } from '@nestjs/common';
import type { BackendDelivery } from '../../backends/index.js';
import { isWaitQueueName } from '../../backends/topology/index.js';
import { deathsOf } from '../../engine/message/index.js';
import { shownLines, shownText, withoutPasswords } from '../../platform/index.js';
import { RpcException } from '../handlers/nest-versions.js';
import type { EventLog } from '../log/event-log.js';
import { describeError, namedError } from './failure.js';
import type { PlannedHandler } from './handler.js';

/** Which failures of handlers are logged: each attempt, the last one of a message, or none. */
export type LogFailures = 'all' | 'last' | 'none';

/** The most characters of an error's message, and lines of its stack, in the log. Both may contain text of a client. */
export const mostCharacters = 1_000;
const mostLines = 40;

/** A message, and the handler that had it. */
export interface Taken {
  readonly delivery: Pick<BackendDelivery, 'queue'>;
  readonly planned: PlannedHandler;
}

/** Logs what a subscriber of a stream threw. @param what the stream */
export const logSubscriberError =
  (log: EventLog, what: string) =>
  (error: unknown): void =>
    log.write(
      'subscriberFailed',
      `a subscriber of ${what} threw an error: ${textOf(error)}`,
      errorFacts(error),
      stackOf(error),
    );

/** One line for each failed attempt: a warning while another one follows, an error for the last. The stack of a parked message is in its headers. */
export class FailureLog {
  constructor(
    private readonly log: EventLog,
    private readonly wanted: LogFailures,
  ) {}

  /** Logs a failure that is followed by another attempt. @param delay milliseconds */
  again(taken: Taken, attempt: number, delay: number, error: unknown): void {
    if (this.wanted !== 'all' || !this.log.writes('retried')) return;
    const text = `${failed(taken, attempt)}, next in ${delay} ms: ${textOf(error)}`;
    this.log.writeLazily('retried', text, () => ({ ...factsOf(taken, attempt), delay, ...errorFacts(error) }));
  }

  /** Logs a message that comes again as the same attempt. @param error undefined if no handler had the message */
  held(taken: Taken, attempt: number, delay: number, error: unknown): void {
    if (this.wanted !== 'all' || !this.log.writes('held')) return;
    const why = error === undefined ? 'its circuit is open' : textOf(error);
    const text = `${placeOf(taken)} is held, attempt ${attempt} comes again in ${delay} ms: ${why}`;
    const facts = error === undefined ? { errorClass: undefined, errorMessage: undefined } : errorFacts(error);
    this.log.write('held', text, { ...factsOf(taken, attempt), delay, ...facts });
  }

  /**
   * Logs the last failure of a message.
   * @param fate whether the message is parked, dead-lettered or dropped
   * @param hasStack false: the stack is shown only with the option `logging.stacks`
   */
  last(taken: Taken, attempt: number, fate: string, error: unknown, hasStack = this.log.logging.stacks === true): void {
    if (this.wanted === 'none') return;
    const text = `${failed(taken, attempt)}, ${fate}: ${textOf(error)}`;
    const stack = hasStack ? stackOf(error) : undefined;
    this.log.write('failed', text, { ...factsOf(taken, attempt), fate, ...errorFacts(error) }, stack);
  }

  /** Logs the end of a message that was refused before a handler got it. Why it was refused was logged then. */
  unhandled(queue: string, fate: string): void {
    if (this.wanted === 'none') return;
    const name = shownText(queue);
    this.log.write('unhandled', `queue '${name}': a message that no handler got, ${fate}`, { queue: name, fate });
  }

  /** Logs a message that the handler dropped. */
  dropped(taken: Taken, attempt: number, error: unknown): void {
    if (this.wanted === 'none') return;
    const text = `${failed(taken, attempt)}, dropped: ${textOf(error)}`;
    this.log.write('dropped', text, { ...factsOf(taken, attempt), ...errorFacts(error) });
  }

  /** @param leftOut what the headers of the republished message lack */
  shortened(taken: Taken, leftOut: string): void {
    const why = 'with it its headers would be too large';
    this.log.write('shortened', `${placeOf(taken)} goes on without ${leftOut}: ${why}`, { ...placed(taken), leftOut });
  }

  /** Logs another error. The option `logFailures` has no effect on it. */
  trouble(taken: Taken, what: string, error: unknown): void {
    const text = `${placeOf(taken)} ${what}: ${textOf(error)}`;
    this.log.write('unsettled', text, { ...placed(taken), ...errorFacts(error) });
  }
}

const placed = ({ delivery, planned: { handler, retry } }: Taken) => ({
  handler: handler.origin,
  queue: shownText(delivery.queue),
  attempts: retry?.attempts,
});

const factsOf = (taken: Taken, attempt: number) => ({ ...placed(taken), attempt });

/** The fields of an error, with the limits of {@link textOf}. */
export function errorFacts(error: unknown): { readonly errorClass: string; readonly errorMessage: string } {
  const { name, message } = namedError(error);
  return { errorClass: shownText(name), errorMessage: shownText(withoutPasswords(message), mostCharacters) };
}

const placeOf = ({ delivery, planned: { handler } }: Taken): string =>
  `${handler.origin}: a message of queue '${shownText(delivery.queue)}'`;

function failed({ delivery, planned: { handler, retry } }: Taken, attempt: number): string {
  const [of, most] = retry === undefined ? ['', attempt] : [` of ${retry.attempts}`, retry.attempts];
  // A stream granted the attempt, or no handler was asked: see AttemptsExhaustedError.
  const what = attempt > most ? `a message failed that had its ${most} attempts` : `attempt ${attempt}${of} failed`;
  return `${handler.origin}: ${what}, queue '${shownText(delivery.queue)}'`;
}

/** The text of an error, on one line. */
export function textOf(error: unknown): string {
  if (error === undefined || error === null) return `${error} was thrown instead of an error`;
  const { name, message } = namedError(error);
  const text = shownText(withoutPasswords(message), mostCharacters);
  return text === '' ? shownText(name) : `${shownText(name)}: ${text}`;
}

/** The stack of an error without its message, which may have lines that a client wrote. */
export function stackOf(error: unknown): string | undefined {
  const { stack } = describeError(error);
  if (stack === undefined) return undefined;
  const lines = stack.split('\n').filter((line) => /^ +at |^caused by /.test(line));
  if (lines.length === 0) return undefined;
  const shown = lines.slice(0, mostLines).map((line) => withoutPasswords(line).slice(0, mostCharacters));
  return shownLines([textOf(error), ...shown].join('\n'));
}

/** The text of Nest's error when a guard returns false. */
const forbidden = 'Forbidden resource';

/** False for an exception whose methods throw. */
function isDenial(error: unknown): boolean {
  try {
    if (error instanceof RpcException) return error.getError() === forbidden;
    return error instanceof HttpException && (error.getStatus() === 401 || error.getStatus() === 403);
  } catch {
    return false;
  }
}

/**
 * Warns, once for each handler, when a guard keeps a dead letter from its handler. The start cannot warn of that, because a guard
 * decides for each message.
 */
export class Denials {
  readonly #warned = new Set<string>();

  constructor(private readonly log: EventLog) {}

  note(error: unknown, { message, queue }: Pick<BackendDelivery, 'message' | 'queue'>, origin: string): void {
    if (!isDenial(error) || this.#warned.has(origin)) return;
    // A message that comes again from the handler's own queue, or from a wait queue, is no dead letter of another queue.
    if (deathsOf(message).every((death) => death.queue === queue || isWaitQueueName(death.queue))) return;
    this.#warned.add(origin);
    const text =
      `a guard denied a dead letter to ${origin}, which is there to take care of it; a guard for everything (APP_GUARD, ` +
      "useGlobalGuards) has to let messages pass: if (context.getType() === 'rpc') return true";
    this.log.write('denied', text, { handler: origin });
  }
}
