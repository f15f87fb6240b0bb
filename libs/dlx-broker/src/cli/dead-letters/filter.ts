import { CtlFailure, exit } from '../ctl/exit.js';

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

/** @throws CtlFailure if messages are selected by ids and by a filter */
export function refuseBoth(ids: readonly string[], flags: FilterFlags): void {
  if (ids.length > 0 && Object.keys(filterOf(flags).query).length > 0)
    throw new CtlFailure(exit.usage, 'Error: name the messages by ids or by a filter, not both');
}

/** A value of null matches any value. */
function nameAndValue(header: string): readonly [string, string | null] {
  const equals = header.indexOf('=');
  return equals < 0 ? [header, null] : [header.slice(0, equals), header.slice(equals + 1)];
}
