import type { Logger } from '@nestjs/common';
import type { BackendDelivery } from '../backend/index.js';
import { shownLines, shownText } from '../host/index.js';
import { describeError } from './failure.js';
import type { PlannedHandler } from './handler.js';

/** Which failures of handlers are logged: each attempt, the last one of a message, or none. */
export type LogFailures = 'all' | 'last' | 'none';

/** Characters of an error's message, and lines of its stack, that a log gets: clients write what is in them. */
export const mostCharacters = 1_000;
const mostLines = 40;

/** A message, and the handler that had it. */
export interface Taken {
  readonly delivery: Pick<BackendDelivery, 'queue'>;
  readonly planned: PlannedHandler;
}

/** One line for each failed attempt: a warning while another one follows, an error with its stack for the last. */
export class FailureLog {
  constructor(
    private readonly logger: Pick<Logger, 'warn' | 'error'>,
    private readonly wanted: LogFailures,
  ) {}

  /** It will be tried again. @param delay milliseconds */
  again(taken: Taken, attempt: number, delay: number, error: unknown): void {
    if (this.wanted !== 'all') return;
    this.logger.warn(`${failed(taken, attempt)}, next in ${delay} ms: ${textOf(error)}`);
  }

  /** It will not. @param fate what becomes of the message */
  last(taken: Taken, attempt: number, fate: string, error: unknown): void {
    if (this.wanted === 'none') return;
    this.logger.error(`${failed(taken, attempt)}, ${fate}: ${textOf(error)}`, stackOf(error));
  }

  /** The handler did not want it. */
  dropped(taken: Taken, attempt: number, error: unknown): void {
    if (this.wanted === 'none') return;
    this.logger.warn(`${failed(taken, attempt)}, dropped: ${textOf(error)}`);
  }

  /** What went wrong besides. It is logged whatever is wanted. */
  trouble({ delivery, planned: { handler } }: Taken, what: string, error: unknown): void {
    this.logger.warn(`${handler.origin}: a message of queue '${shownText(delivery.queue)}' ${what}: ${textOf(error)}`);
  }
}

function failed({ delivery, planned: { handler, retry } }: Taken, attempt: number): string {
  const of = retry === undefined ? '' : ` of ${retry.attempts}`;
  return `${handler.origin}: attempt ${attempt}${of} failed, queue '${shownText(delivery.queue)}'`;
}

/** Of any error, on one line. */
export function textOf(error: unknown): string {
  const { name, message } = describeError(error);
  const text = shownText(message, mostCharacters);
  return text === '' ? shownText(name) : `${shownText(name)}: ${text}`;
}

/** Where it happened: its message is not repeated, for a client may have written lines of it. */
export function stackOf(error: unknown): string | undefined {
  const { stack } = describeError(error);
  if (stack === undefined) return undefined;
  const lines = stack.split('\n').filter((line) => /^ +at |^caused by /.test(line));
  if (lines.length === 0) return undefined;
  const shown = lines.slice(0, mostLines).map((line) => line.slice(0, mostCharacters));
  return shownLines([textOf(error), ...shown].join('\n'));
}
