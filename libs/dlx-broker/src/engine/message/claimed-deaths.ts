import { type DeathEntry, type Deaths, type Dialect } from './death.js';
import { type Field, type FieldTable, integerOf } from './field-table.js';
import { compact } from './packed-table.js';
import { nameDeath, readDeaths, writeDeath } from './x-death.js';

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
