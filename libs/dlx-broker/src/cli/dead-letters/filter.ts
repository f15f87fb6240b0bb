import type { Command } from 'commander';
import { CommandError, exit } from '../command-error.js';

/** Selects messages that match all of these options. */
export interface FilterFlags {
  readonly reason?: string;
  readonly diedIn?: string;
  readonly firstQueue?: string;
  readonly exchange?: string;
  readonly routingKey?: string;
  readonly header?: readonly string[];
  readonly error?: string;
  readonly fingerprint?: string;
  readonly text?: string;
  readonly olderThan?: string;
  readonly youngerThan?: string;
}

/** The options, and what the API calls them. */
const names = {
  reason: 'reason',
  diedIn: 'queue',
  firstQueue: 'first_queue',
  exchange: 'exchange',
  routingKey: 'routing_key',
  error: 'error',
  fingerprint: 'fingerprint',
  text: 'text',
  olderThan: 'older_than',
  youngerThan: 'younger_than',
} as const;

/** The filter as parameters of a query, and as the body of a redrive. */
export function filterOf(flags: FilterFlags): {
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Readonly<Record<string, unknown>>;
} {
  const plain: Record<string, string> = {};
  for (const [option, name] of Object.entries(names)) {
    const value = flags[option as keyof typeof names];
    if (value !== undefined) plain[name] = value;
  }
  const { header = [] } = flags;
  if (header.length === 0) return { query: plain, body: plain };
  const headers = Object.fromEntries(header.map(nameAndValue));
  return { query: { ...plain, header }, body: { ...plain, headers } };
}

/** @throws CommandError if messages are selected by ids and by a filter */
export function refuseBoth(ids: readonly string[], flags: FilterFlags): void {
  if (ids.length > 0 && Object.keys(filterOf(flags).query).length > 0)
    throw new CommandError('name the messages by ids or by a filter, not both', exit.usage);
}

/** A value of null matches any value. */
function nameAndValue(header: string): readonly [string, string | null] {
  const equals = header.indexOf('=');
  return equals < 0 ? [header, null] : [header.slice(0, equals), header.slice(equals + 1)];
}

/** Adds the options that select messages. */
export const withFilters = (command: Command): Command =>
  command
    .option(
      '--reason <REASON>',
      'of the latest death: rejected, expired, maxlen or delivery_limit; parked, without a death',
    )
    .option('--died-in <QUEUE>', 'the queue in which it died last')
    .option('--first-queue <QUEUE>', 'the queue in which it died first')
    .option('--exchange <EXCHANGE>', 'the exchange it was published to at first')
    .option('--routing-key <KEY>', 'the routing key it was published with at first')
    .option('--header <NAME[=VALUE]>', 'a header it has; may be given several times', several)
    .option('--error <CLASS>', 'the class or the kind of its error')
    .option('--fingerprint <FINGERPRINT>', 'the fingerprint of its error')
    .option('--text <TEXT>', 'a string somewhere in its body')
    .option('--older-than <TIME>', 'how long it is dead at least, such as 90s, 15m, 2h or 7d')
    .option('--younger-than <TIME>', 'how long it is dead at most');

/** Collects the values of an option that may be given several times. */
const several = (one: string, more: readonly string[] = []): readonly string[] => [...more, one];
