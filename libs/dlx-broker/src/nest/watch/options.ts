import {
  DlxConfigurationError,
  duration,
  flag,
  optionsOf,
  refused,
  refuseUnknown,
  whole,
} from '../../options/index.js';

/** What `DlxBroker.watch` looks at. At least one of the rules `olderThan`, `atLeast`, `perMinute` and `newFingerprint` is needed. */
export interface WatchOptions {
  /** The queues: names, regular expressions, or a list of both, up to 100. Default: the dead-letter queues of the handlers. */
  readonly queues?: string | RegExp | readonly (string | RegExp)[];
  /** Raised when the oldest dead letter of a queue is this old or older: milliseconds, or a string such as `'1h'`; at least a second. */
  readonly olderThan?: number | string;
  /** Raised when a queue has this many messages or more. */
  readonly atLeast?: number;
  /** Raised when this many messages or more came into a queue within a minute. */
  readonly perMinute?: number;
  /** True: raised when a message is parked with a fingerprint that the queue did not have. */
  readonly newFingerprint?: boolean;
  /** The time between two looks, one second to one minute. Default `'10s'`. */
  readonly every?: number | string;
  /** How long a queue has to be at 80 % of a limit or below before the alert is cleared, up to a day. Default `'1m'`. */
  readonly clearAfter?: number | string;
}

/** {@link WatchOptions}, checked, with durations in milliseconds. */
export interface ResolvedWatch {
  /** Undefined: the dead-letter queues of the handlers. */
  readonly queues: readonly (string | RegExp)[] | undefined;
  readonly olderThan: number | undefined;
  readonly atLeast: number | undefined;
  readonly perMinute: number | undefined;
  readonly newFingerprint: boolean;
  readonly every: number;
  readonly clearAfter: number;
}

/** Every option of a watch. */
const watchOptions = {
  queues: true,
  olderThan: true,
  atLeast: true,
  perMinute: true,
  newFingerprint: true,
  every: true,
  clearAfter: true,
} satisfies Record<keyof WatchOptions, true>;

const mostEntries = 100;
const mostMessages = 1_000_000_000;
const remedy = "write { atLeast: 100 }, { olderThan: '1h' }, { perMinute: 10 } or { newFingerprint: true }";

/** @throws DlxConfigurationError naming the option */
export function checkedWatch(options: WatchOptions): ResolvedWatch {
  const given = optionsOf(options, 'watch()', remedy);
  refuseUnknown(given, Object.keys(watchOptions), 'watch()');
  const { queues, newFingerprint } = given;
  if (newFingerprint !== undefined) flag.read(newFingerprint, 'newFingerprint of watch()');
  const resolved = {
    queues: queues === undefined ? undefined : checkedQueues(queues),
    olderThan: timeOf(given.olderThan, 'olderThan', 1_000),
    atLeast: countOf(given.atLeast, 'atLeast'),
    perMinute: countOf(given.perMinute, 'perMinute'),
    newFingerprint: newFingerprint === true,
    every: timeOf(given.every, 'every', 1_000, 60_000) ?? 10_000,
    clearAfter: timeOf(given.clearAfter, 'clearAfter', 0, 86_400_000) ?? 60_000,
  };
  const { olderThan, atLeast, perMinute } = resolved;
  const hasRule = olderThan !== undefined || atLeast !== undefined || perMinute !== undefined;
  if (hasRule || resolved.newFingerprint) return resolved;
  throw new DlxConfigurationError(`watch(): there is no rule; ${remedy}`);
}

function checkedQueues(queues: unknown): readonly (string | RegExp)[] {
  const origin = 'queues of watch()';
  const all: readonly unknown[] = Array.isArray(queues) ? queues : [queues];
  if (all.length === 0) throw refused(queues, origin, 'is an empty list; name a queue, or leave it out');
  if (all.length > mostEntries) {
    throw refused(all.length, origin, `entries are more than ${mostEntries}; write a regular expression`);
  }
  for (const one of all) {
    if (one instanceof RegExp) continue;
    if (typeof one !== 'string') {
      throw refused(
        one,
        origin,
        "is no name of a queue and no regular expression; write 'orders.dead', /^orders/ or a list of them",
      );
    }
    if (one === '') throw refused(one, origin, 'is empty; name a queue, or leave it out');
  }
  return all as readonly (string | RegExp)[];
}

function countOf(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined;
  whole(1, mostMessages).read(value, `${name} of watch()`);
  return value as number;
}

function timeOf(value: unknown, name: string, least: number, most = Infinity): number | undefined {
  if (value === undefined) return undefined;
  const origin = `${name} of watch()`;
  const milliseconds = duration(least).read(value, origin).value as number;
  if (milliseconds > most) throw refused(value, origin, `is more than ${most} ms`);
  return milliseconds;
}
