import { ClaimedDeaths } from './claimed-deaths.js';
import { type DeathEntry, type Deaths, type Dialect, type FirstDeath, withExpiration } from './death.js';
import type { Field, FieldTable } from './field-table.js';
import { Message } from './message.js';
import { nameDeath, readDeaths, readFirstDeath, writeDeath } from './x-death.js';

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
