import { ClaimedDeaths } from './claimed-deaths.js';
import { type DeathEntry, type Deaths, type Dialect, nameDeath, withExpiration, writeDeath } from './death.js';
import type { Field, FieldTable } from './field-table.js';
import type { Message } from './message.js';

/**
 * A history that the broker recorded from the first death on. The expiration is not part of it but of the message, so messages
 * with different expirations share a history.
 */
export class RecordedDeaths implements Deaths {
  constructor(
    /** Newest first (rule H7). */
    readonly all: readonly DeathEntry[],
    readonly first: DeathEntry,
    /** The latest death, for dialects that name it in headers (rule W2). */
    readonly last: DeathEntry | undefined,
    /** How to write the expiration that the first death removed. */
    readonly dialect: Dialect,
  ) {}

  get isShared(): boolean {
    return true;
  }

  /** Rules H6, H7. */
  record(death: DeathEntry, _own: FieldTable | undefined, { lastDeathHeaders }: Dialect): RecordedDeaths {
    const { all } = this;
    const known = all.find((each) => isSamePair(each, death));
    const newest = known === undefined ? death : { ...known, count: known.count + 1 };
    const next = [newest];
    for (const each of all) if (each !== known) next.push(each);
    return new RecordedDeaths(next, this.first, lastDeathHeaders ? death : undefined, this.dialect);
  }

  closesCycle(queue: string): boolean {
    for (const death of this.all) {
      if (death.reason === 'rejected') return false; // rule I2: a reject in the loop keeps it alive
      if (death.queue === queue) return true;
    }
    return false;
  }

  own(headers: FieldTable | undefined): FieldTable | undefined {
    return headers;
  }

  entries(expiration: string | undefined): readonly DeathEntry[] {
    if (expiration === undefined) return this.all;
    const { all, first, dialect } = this;
    if (all.length === 1) return [withExpiration(all[0] as DeathEntry, expiration, dialect)];
    return all.map((death) => (isSamePair(death, first) ? withExpiration(death, expiration, dialect) : death));
  }

  headers(own: FieldTable | undefined, expiration: string | undefined): FieldTable {
    const headers = new Map<string, Field>(own);
    const { parsesExpiration } = this.dialect;
    const value = this.entries(expiration).map((death) => writeDeath(death, parsesExpiration));
    headers.set('x-death', { type: 'A', value });
    nameDeath(headers, 'first', this.first); // rule H8
    if (this.last !== undefined) nameDeath(headers, 'last', this.last); // rule W2
    return headers;
  }
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
  if (!isClaimed(own, dialect)) {
    return new RecordedDeaths([death], death, dialect.lastDeathHeaders ? death : undefined, dialect);
  }
  const taken = expiration === undefined ? death : withExpiration(death, expiration, dialect);
  return ClaimedDeaths.after(own as FieldTable, taken, dialect);
}
