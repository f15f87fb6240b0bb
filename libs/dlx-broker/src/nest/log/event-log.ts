import { Logger } from '@nestjs/common';
import { type FieldsOf, type LineEvent, type LineLevel, logEvents } from './log-events.js';
import { type LoggingOptions, LogLine } from './logging.js';

type Line = [message: unknown, ...more: unknown[]];

/**
 * A logger that never throws. The logger of an application may throw, for example when its disk is full, and the message has to be
 * settled even then. Such a log line is lost.
 */
export class SafeLogger extends Logger {
  override log(...line: Line): void {
    safely(() => super.log(...line));
  }

  override warn(...line: Line): void {
    safely(() => super.warn(...line));
  }

  override debug(...line: Line): void {
    safely(() => super.debug(...line));
  }

  override verbose(...line: Line): void {
    safely(() => super.verbose(...line));
  }

  override error(...line: Line): void {
    safely(() => super.error(...line));
  }
}

function safely(log: () => void): void {
  try {
    log();
  } catch {
    // The error cannot be logged.
  }
}

/** Writes all lines of the library by Nest's logger, as the option `logging` says. */
export class EventLog {
  readonly #logger: SafeLogger;

  /** @param context what Nest's logger shows in front of a line */
  constructor(
    context: string,
    readonly logging: LoggingOptions = {},
  ) {
    this.#logger = new SafeLogger(context);
  }

  /** False if lines of this event are switched off. */
  writes(event: LineEvent): boolean {
    return this.#levelOf(event) !== 'off';
  }

  /**
   * @param text the sentence
   * @param fields or a function for them, which is called only if lines have fields: for frequent lines
   * @param stack of the error, which is shown at the level `error`
   * @param thrown what is logged in place of the sentence when lines have no fields
   */
  write<E extends LineEvent>(
    event: E,
    text: string,
    fields: FieldsOf<E> | (() => FieldsOf<E>),
    stack?: string,
    thrown?: unknown,
  ): void {
    const { fields: hasFields = false } = this.logging;
    const level = this.#levelOf(event);
    if (level === 'off') return;
    if (thrown !== undefined && !hasFields) return this.#logger[level](thrown);
    const line = hasFields ? new LogLine(text, event, typeof fields === 'function' ? fields() : fields) : text;
    if (level === 'error') this.#logger.error(line, stack);
    else this.#logger[level](line);
  }

  #levelOf(event: LineEvent): LineLevel {
    return this.logging.levels?.[event] ?? logEvents[event].level;
  }
}
