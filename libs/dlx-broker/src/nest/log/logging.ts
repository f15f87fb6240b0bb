import { flag, oneOf, optionsOf } from '../../platform/options/index.js';
import { type Check, optionIn } from '../module/check-options.js';
import { type LineEvent, type LineFields, type LineLevel, logEvents } from './log-events.js';

/** How lines are logged. */
export interface LoggingOptions {
  /** True: a line is an object with fields, whose text is the sentence. For loggers that write JSON. Default false. */
  readonly fields?: boolean;
  /** True: the line of a parked message has the stack of its error. Default false: the headers of the message have it. */
  readonly stacks?: boolean;
  /** Other levels for some events. */
  readonly levels?: Readonly<Partial<Record<LineEvent, LineLevel>>>;
}

const levels: readonly LineLevel[] = ['error', 'warn', 'log', 'debug', 'verbose', 'off'];

/** @throws DlxConfigurationError naming the option and the value */
export const areLoggingOptions: Check = (value, origin) => {
  const remedy = "write { fields: true, levels: { retried: 'debug' } }";
  const options = optionsOf(value, origin, remedy, ['fields', 'stacks', 'levels']);
  for (const name of ['fields', 'stacks']) {
    if (options[name] !== undefined) flag.read(options[name], optionIn(origin, name));
  }
  const given = options['levels'];
  if (given === undefined) return;
  const place = optionIn(origin, 'levels');
  const chosen = optionsOf(given, place, "write { retried: 'debug' }", Object.keys(logEvents));
  for (const [event, level] of Object.entries(chosen)) {
    if (level !== undefined) oneOf(...levels).read(level, optionIn(place, event));
  }
};

/** A line as an object. As a string it is its sentence; JSON and loggers that copy properties have its fields. */
export class LogLine {
  readonly [field: string]: unknown;

  constructor(
    readonly message: string,
    readonly event: LineEvent,
    fields: LineFields,
  ) {
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true });
    }
    // Not enumerable: loggers that copy the properties of a line shall not copy its function.
    Object.defineProperty(this, 'toString', { value: () => message });
  }
}
