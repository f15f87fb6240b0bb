import { HttpException } from '@nestjs/common';
import type { BackendDelivery } from '../../backends/index.js';
import { isWaitQueueName } from '../../backends/topology/index.js';
import { deathsOf } from '../../engine/message/index.js';
import { attemptOf } from '../../platform/history/index.js';
import { shownLines, shownText, withoutPasswords } from '../../platform/index.js';
import { RpcException } from '../handlers/nest-versions.js';
import type { EventLog } from '../log/event-log.js';
import { describeError, namedError } from './failure.js';
import type { Settled } from './feature.js';
import type { Taken } from './handler.js';

/** Which failures of handlers are logged: each attempt, the last one of a message, or none. */
export type LogFailures = 'all' | 'last' | 'none';

/** The most characters of an error's message, and lines of its stack, in the log. Both may contain text of a client. */
export const mostCharacters = 1_000;
const mostLines = 40;

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

/** The fate of a message that its queue dead-letters. */
export const rejected = 'rejected';

/** One line for each failed attempt: a warning while another one follows, an error for the last. */
export class FailureLog {
  readonly #bare = new Set<string>();

  constructor(
    private readonly log: EventLog,
    private readonly wanted: LogFailures,
  ) {}

  /** Logs what becomes of a message whose handler failed. Why a message was refused before a handler got it was logged then. */
  settled(taken: Taken, settled: Settled): void {
    const { kind, error, delay, fate } = settled;
    const { wanted, log } = this;
    const isAgain = kind === 'retried' || kind === 'held';
    if (isAgain ? wanted !== 'all' || !log.writes(kind) : wanted === 'none' || fate === undefined) return;
    const { attempt = attemptBy(taken) } = settled;
    const isHeldAtGate = kind === 'held' && error === undefined;
    const facts = () => ({ ...placed(taken), attempt, ...(isHeldAtGate ? noError : errorFacts(error)) });
    if (kind === 'retried') {
      const text = `${failed(taken, attempt)}, next in ${delay} ms: ${textOf(error)}`;
      log.write(kind, text, () => ({ ...facts(), delay }));
    } else if (kind === 'held') {
      const why = isHeldAtGate ? 'its circuit is open' : textOf(error);
      const text = `${placeOf(taken)} is held, attempt ${attempt} comes again in ${delay} ms: ${why}`;
      log.write(kind, text, () => ({ ...facts(), delay }));
    } else if (kind === 'dropped') {
      log.write(kind, `${failed(taken, attempt)}, ${fate}: ${textOf(error)}`, facts);
    } else if (taken.isUnhandled === true) {
      const queue = shownText(taken.delivery.queue);
      log.write('unhandled', `queue '${queue}': a message that no handler got, ${fate}`, { queue, fate });
    } else {
      // The headers of a parked message have the stack.
      const stack = fate === rejected || log.logging.stacks === true ? stackOf(error) : undefined;
      log.write('failed', `${failed(taken, attempt)}, ${fate}: ${textOf(error)}`, () => ({ ...facts(), fate }), stack);
    }
  }

  /** @param leftOut what the headers of the republished message lack */
  shortened(taken: Taken, leftOut: string): void {
    const why = 'with it its headers would be too large';
    this.log.write('shortened', `${placeOf(taken)} goes on without ${leftOut}: ${why}`, { ...placed(taken), leftOut });
  }

  /** Warns, once for each handler, that a dead letter lacks the headers of its `Reject`. */
  bare(taken: Taken): void {
    const { origin } = taken.planned.handler;
    if (this.#bare.has(origin)) return;
    this.#bare.add(origin);
    const why = 'a reject of AMQP carries none; throw new Park(why, { headers }) for a parked message that has them';
    this.log.write('headersLost', `${placeOf(taken)} is dead-lettered without the headers of its Reject: ${why}`, {
      handler: origin,
      queue: shownText(taken.delivery.queue),
    });
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

/** The number of the attempt. */
export const attemptBy = ({ delivery }: Taken): number => attemptOf(delivery.message, delivery.queue);

/** The fields of an error that is not known. */
export const noError = { errorClass: undefined, errorMessage: undefined };

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
