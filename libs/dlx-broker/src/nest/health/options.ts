import { duration, optionsOf, parseDuration, refused } from '../../platform/options/index.js';
import { optionIn } from '../module/check-options.js';

/** What {@link DlxBroker.health} looks at besides what it always does. Each member is off by default. */
export interface HealthOptions {
  /** Tells the age of the oldest dead letter, where the broker can show its messages. */
  readonly deadLetters?: DeadLetterHealthOptions;
  /** Not ready while the event loop was blocked for longer than this since the last answer: milliseconds, or `'1s'`. */
  readonly loopDelay?: number | string;
}

/** Which dead letters count, and how old they may become. */
export interface DeadLetterHealthOptions {
  /** Not ready while a dead letter is older than this: milliseconds, at least 1,000, or `'1d'`. Default: no limit, the age is only a fact. */
  readonly maxAge?: number | string;
  /** Default: the parking lots of retry policies, and the queues of this application that get dead letters. */
  readonly queues?: readonly string[];
}

/** {@link HealthOptions}, with milliseconds. */
export interface ResolvedHealth {
  readonly loopDelay: number | undefined;
  readonly deadLetters:
    { readonly maxAge: number | undefined; readonly queues: readonly string[] | undefined } | undefined;
}

const remedy = "write { loopDelay: '1s', deadLetters: { maxAge: '1d' } }, or leave it out";

/** Ages are shown in seconds: below one, almost every dead letter is too old. */
const leastAge = 1_000;

/** @throws DlxConfigurationError naming the option and the value */
export function resolveHealth(given: unknown, origin: string): ResolvedHealth {
  if (given === undefined) return { loopDelay: undefined, deadLetters: undefined };
  const { deadLetters, loopDelay } = optionsOf<HealthOptions>(given, origin, remedy, ['deadLetters', 'loopDelay']);
  return {
    loopDelay: limit(loopDelay, optionIn(origin, 'loopDelay')),
    deadLetters: deadLetters === undefined ? undefined : resolveLetters(deadLetters, optionIn(origin, 'deadLetters')),
  };
}

function resolveLetters(given: DeadLetterHealthOptions, origin: string): ResolvedHealth['deadLetters'] {
  const remedy = "write { maxAge: '1d' }, or leave it out";
  const { maxAge, queues } = optionsOf<DeadLetterHealthOptions>(given, origin, remedy, ['maxAge', 'queues']);
  const areNames = Array.isArray(queues) && queues.length > 0 && queues.every((name) => typeof name === 'string');
  if (queues !== undefined && !areNames) {
    throw refused(queues, optionIn(origin, 'queues'), "is no list of names; write ['orders.dead'], or leave it out");
  }
  if (maxAge === undefined) return { maxAge, queues };
  return { maxAge: duration(leastAge).read(maxAge, optionIn(origin, 'maxAge')).value as number, queues };
}

function limit(value: number | string | undefined, origin: string): number | undefined {
  if (value === undefined) return undefined;
  const milliseconds = parseDuration(value, origin);
  if (milliseconds > 0) return milliseconds;
  throw refused(value, origin, 'is 0, which nothing can meet; leave it out for no limit');
}
