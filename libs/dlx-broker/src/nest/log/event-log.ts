import { Logger } from '@nestjs/common';
import { type FieldsOf, type LineEvent, type LineLevel, logEvents } from './log-events.js';
import { type LoggingOptions, LogLine } from './logging.js';

/** Writes all lines of the library by Nest's logger, as the option `logging` says. A logger that throws has no effect. */
export class EventLog {
  readonly #logger: Logger;

  /** @param context what Nest's logger shows in front of a line */
  constructor(
    context: string,
    readonly logging: LoggingOptions = {},
  ) {
    this.#logger = new Logger(context);
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
    const level = this.#levelOf(event);
    if (level === 'off') return;
    const { fields: hasFields = false } = this.logging;
    const isRaw = thrown !== undefined && !hasFields;
    const line = hasFields ? new LogLine(text, event, typeof fields === 'function' ? fields() : fields) : text;
    try {
      if (level === 'error' && !isRaw) this.#logger.error(line, stack);
      else this.#logger[level](isRaw ? thrown : line);
    } catch {
      // The line is lost. The disk of a logger may be full, and messages have to be settled even then.
    }
  }

  #levelOf(event: LineEvent): LineLevel {
    return this.logging.levels?.[event] ?? logEvents[event].level;
  }
}
