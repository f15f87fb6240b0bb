import {
  type DeathEntry,
  type Deaths,
  type Dialect,
  type FirstDeath,
  nameDeath,
  readDeaths,
  readFirstDeath,
  withExpiration,
  writeDeath,
} from './death.js';
import { type Field, type FieldTable, integerOf } from './field-table.js';
import { Message } from './message.js';
import type { Notes, RecordedOrigin } from './notes.js';
import { compact } from './packed-table.js';
import type { CarbonCopies } from './properties.js';

/**
 * A history that a client began with an `x-death` header, which the broker continues (rule H9). Whatever the client wrote
 * there stays, so the history is only in the headers of the message.
 */
export class ClaimedDeaths implements Deaths {
  /** @param table the message's own headers, with all deaths in them */
  constructor(readonly table: FieldTable) {}

  get first(): undefined {
    return undefined;
  }

  /** The entries are checked at every death (rules H10, H11, V5). */
  record(death: DeathEntry, own: FieldTable = this.table, dialect: Dialect): ClaimedDeaths {
    const headers = new Map<string, Field>(own);
    const header = own.get('x-death');
    const newest = writeDeath(death, dialect.parsesExpiration);
    const value = header?.type === 'A' ? afterDeath(header.value, death, newest) : [newest];
    headers.set('x-death', { type: 'A', value });
    if (dialect.lastDeathHeaders) nameDeath(headers, 'last', death);
    return new ClaimedDeaths(compact(headers));
  }

  closesCycle(queue: string): boolean {
    const header = this.table.get('x-death');
    if (header?.type !== 'A') return false;
    for (const death of header.value) {
      if (death.type !== 'F') continue;
      if (death.value.get('reason')?.value === 'rejected') return false; // rule I2
      if (death.value.get('queue')?.value === queue) return true;
    }
    return false;
  }

  own(): FieldTable {
    return this.table;
  }

  entries(): readonly DeathEntry[] {
    return readDeaths(this.table);
  }

  headers(own: FieldTable | undefined): FieldTable | undefined {
    return own;
  }
}

/** The first entry of one queue and reason, and how many entries the client wrote for this pair. */
interface Counted {
  readonly entry: Field;
  readonly table: FieldTable;
  copies: number;
}

/**
 * The entries after one more death. The entry of its queue and reason counts the death and comes first (rule H6); without
 * one a new entry comes first.
 *
 * The broker never writes two entries of one queue and reason; clients that forge or copy headers do. Then the first entry
 * stays, and if it has no count, the number of the entries is its count (rule H10). An element that is no table, or a count that is no
 * integer, discards the history (rule V5).
 */
function afterDeath(entries: readonly Field[], death: DeathEntry, newest: Field): readonly Field[] {
  const queues = new Map<unknown, Map<unknown, Counted>>();
  const all: Counted[] = [];
  for (const entry of entries) {
    if (entry.type !== 'F') return [newest];
    const table = entry.value;
    const queue = table.get('queue')?.value;
    const reason = table.get('reason')?.value;
    let reasons = queues.get(queue);
    if (reasons === undefined) queues.set(queue, (reasons = new Map()));
    const known = reasons.get(reason);
    if (known !== undefined) {
      known.copies++;
      continue;
    }
    const first = { entry, table, copies: 1 };
    reasons.set(reason, first);
    all.push(first);
  }
  const known = queues.get(death.queue)?.get(death.reason);
  const isAlone = entries.length === 1; // a single entry without a count was never counted
  const bumped = known === undefined ? newest : countOneMore(known, isAlone);
  if (bumped === undefined) return [newest];
  const rest = all.filter((each) => each !== known);
  return [
    bumped,
    ...rest.map((each) => (isAlone || each.table.has('count') ? each.entry : withCount(each, each.copies))),
  ];
}

/** The entry with one more death in its count; undefined if its count is no integer. Its other fields stay. */
function countOneMore(counted: Counted, isAlone: boolean): Field | undefined {
  const count = counted.table.get('count');
  if (count === undefined) return withCount(counted, isAlone ? 1 : counted.copies + 1);
  const known = integerOf(count);
  if (known === undefined) return undefined;
  if (typeof known === 'bigint') return withCount(counted, BigInt.asIntN(64, known + 1n));
  return withCount(counted, known === Number.MAX_SAFE_INTEGER ? BigInt(known) + 1n : known + 1); // rule H9
}

const withCount = ({ table }: Counted, value: number | bigint): Field => ({
  type: 'F',
  value: new Map(table).set('count', { type: 'l', value }),
});

/**
 * A history that the broker recorded from the first death on. The expiration is part of the message and not of its history, so
 * messages with different expirations share a history.
 */
export class RecordedDeaths implements Deaths {
  constructor(
    /** Newest first (rule H7). */
    readonly all: readonly DeathEntry[],
    readonly first: DeathEntry,
    /** The latest death, for dialects that name it in headers (rule W2). */
    readonly last: DeathEntry | undefined,
    /** How to write the expiration that the first death removed (rule W4). */
    readonly parsesExpiration: boolean,
  ) {}

  /** Rules H6, H7. */
  record(death: DeathEntry, _own: FieldTable | undefined, { lastDeathHeaders }: Dialect): RecordedDeaths {
    const all = oneMoreDeath(this.all, death);
    return new RecordedDeaths(all, this.first, lastDeathHeaders ? death : undefined, this.parsesExpiration);
  }

  closesCycle(queue: string): boolean {
    for (const death of this.all) {
      if (death.reason === 'rejected') return false; // rule I2: a cycle with a reject in it goes on
      if (death.queue === queue) return true;
    }
    return false;
  }

  own(headers: FieldTable | undefined): FieldTable | undefined {
    return headers;
  }

  entries(expiration: string | undefined): readonly DeathEntry[] {
    if (expiration === undefined) return this.all;
    const { all, first, parsesExpiration } = this;
    if (all.length === 1) return [withExpiration(all[0] as DeathEntry, expiration, parsesExpiration)];
    return all.map((death) => (isSamePair(death, first) ? withExpiration(death, expiration, parsesExpiration) : death));
  }

  headers(own: FieldTable | undefined, expiration: string | undefined): FieldTable {
    const headers = new Map<string, Field>(own);
    const value = this.entries(expiration).map((death) => writeDeath(death, this.parsesExpiration));
    headers.set('x-death', { type: 'A', value });
    nameDeath(headers, 'first', this.first); // rule H8
    if (this.last !== undefined) nameDeath(headers, 'last', this.last); // rule W2
    return headers;
  }
}

/** A history after one more death, or after several in one queue for one reason: the known entry counts up and moves to the front (rules H6, H7). */
export function oneMoreDeath(all: readonly DeathEntry[], death: DeathEntry): readonly DeathEntry[] {
  const known = all.find((each) => isSamePair(each, death));
  const next = [known === undefined ? death : { ...known, count: known.count + death.count }];
  for (const each of all) if (each !== known) next.push(each);
  return next;
}

const isSamePair = (one: DeathEntry, other: DeathEntry): boolean =>
  one.queue === other.queue && one.reason === other.reason;

/** Whether the first death continues a history that a client published (rules H9, W3). */
export const isClaimed = (own: FieldTable | undefined, { trustsClientDeaths }: Dialect): boolean =>
  trustsClientDeaths && own !== undefined && own.has('x-death');

/**
 * The history of a message after one more death (rules H5 to H13).
 * @param death with a count of 1
 * @param own the headers of the message without its deaths: those of its properties, with the changes of a rejection
 */
export function recordDeath(
  { deaths, own: { expiration } }: Message,
  death: DeathEntry,
  own: FieldTable | undefined,
  dialect: Dialect,
): Deaths {
  if (deaths !== undefined) return deaths.record(death, own, dialect);
  const { lastDeathHeaders, parsesExpiration } = dialect;
  if (!isClaimed(own, dialect)) {
    return new RecordedDeaths([death], death, lastDeathHeaders ? death : undefined, parsesExpiration);
  }
  const taken = expiration === undefined ? death : withExpiration(death, expiration, parsesExpiration);
  return new ClaimedDeaths(own as FieldTable).record(taken, own, dialect);
}

/**
 * The deaths of a message, newest first: as the broker recorded them, or, for a message of another broker, as its headers
 * have them; see {@link readDeaths}.
 * @param of the message, or the headers that a consumer got
 */
export function deathsOf(of: Message | FieldTable | undefined): readonly DeathEntry[] {
  if (!(of instanceof Message)) return readDeaths(of);
  return of.deaths?.entries(of.own.expiration) ?? readDeaths(of.own.headers);
}

/** The first death; undefined when the message never died, or when a client began its history (rules H9, H11). */
export function firstDeathOf(of: Message | FieldTable | undefined): FirstDeath | undefined {
  if (!(of instanceof Message)) return readFirstDeath(of);
  const first = of.deaths?.first;
  if (first === undefined) return readFirstDeath(of.own.headers);
  const { reason, queue, exchange } = first;
  return { reason, queue, exchange };
}

/**
 * The entry of the first death, which has headers of its own (rule H8), or else the last entry: the order of the entries shows
 * only which deaths are the latest.
 */
export function oldestDeathOf(of: Message): DeathEntry | undefined {
  const deaths = deathsOf(of);
  const first = firstDeathOf(of);
  return deaths.find(({ queue, reason }) => queue === first?.queue && reason === first.reason) ?? deaths.at(-1);
}

/** Whether messages with these notes look the same, so that they can share them. A history that a client began is compared by its object only. */
export function areSameNotes(one: Notes | undefined, other: Notes | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  return (
    one.delay === other.delay &&
    isSameOrigin(one.origin, other.origin) &&
    areSameCopies(one.copies, other.copies) &&
    (one.deaths === other.deaths ||
      (one.deaths instanceof RecordedDeaths &&
        other.deaths instanceof RecordedDeaths &&
        areSameDeaths(one.deaths, other.deaths)))
  );
}

function isSameOrigin(one: RecordedOrigin | undefined, other: RecordedOrigin | undefined): boolean {
  if (one === other) return true;
  return one?.queue === other?.queue && one?.routingKey === other?.routingKey && one?.exchange === other?.exchange;
}

function areSameCopies(one: CarbonCopies | undefined, other: CarbonCopies | undefined): boolean {
  if (one === other) return true;
  return one !== undefined && other !== undefined && areSame(one.cc, other.cc) && areSame(one.bcc, other.bcc);
}

const areSameDeaths = (one: RecordedDeaths, other: RecordedDeaths): boolean =>
  one.parsesExpiration === other.parsesExpiration &&
  one.all.length === other.all.length &&
  one.all.every((death, index) => isSameDeath(death, other.all[index])) &&
  isSameDeath(one.first, other.first) &&
  isSameDeath(one.last, other.last);

function isSameDeath(one: DeathEntry | undefined, other: DeathEntry | undefined): boolean {
  if (one === other) return true;
  return (
    one !== undefined &&
    other !== undefined &&
    one.time === other.time &&
    one.count === other.count &&
    one.queue === other.queue &&
    one.reason === other.reason &&
    one.exchange === other.exchange &&
    one.originalExpiration === other.originalExpiration &&
    areSame(one.routingKeys, other.routingKeys)
  );
}

const areSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, index) => text === other[index]);
