import { type DeathEntry, type Deaths, type Dialect, nameDeath, writeDeath } from './death.js';
import { readDeaths } from './death-history.js';
import { mergeDeaths } from './death-merge.js';
import { type Field, type FieldTable, integerOf } from './field-table.js';
import { compact } from './packed-table.js';

/**
 * A history that a client began: its `x-death` header, in which the broker goes on counting (rule H9). All that the
 * client wrote there stays as it was, so the history stands in the headers of the message and nowhere else.
 */
export class ClaimedDeaths implements Deaths {
  /** @param table the message's own headers, with all deaths in them */
  constructor(readonly table: FieldTable) {}

  /**
   * What stands there is checked at every death (rules H10, H11, V5).
   * @param death with a count of 1
   * @param own the headers of the message as they are now
   */
  static after(own: FieldTable, death: DeathEntry, dialect: Dialect): ClaimedDeaths {
    const headers = new Map<string, Field>(own);
    const header = own.get('x-death');
    // Also beside a death that was recorded: an entry that stood alone has no count before (rule H10).
    const earlier = header?.type === 'A' ? mergeDeaths(header.value) : undefined;
    const newest = writeDeath(death, dialect.parsesExpiration);
    headers.set('x-death', { type: 'A', value: earlier === undefined ? [newest] : counted(earlier, death, newest) });
    if (dialect.lastDeathHeaders) nameDeath(headers, 'last', death);
    return new ClaimedDeaths(compact(headers));
  }

  get first(): undefined {
    return undefined;
  }

  get isShared(): boolean {
    return false;
  }

  record(death: DeathEntry, own: FieldTable | undefined, dialect: Dialect): ClaimedDeaths {
    return ClaimedDeaths.after(own ?? this.table, death, dialect);
  }

  closesCycle(queue: string): boolean {
    const header = this.table.get('x-death');
    if (header?.type !== 'A') return false;
    for (const death of header.value) {
      if (death.type !== 'F') continue;
      if (death.value.get('reason')?.value === 'rejected') return false;
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

  headers(own: FieldTable | undefined): FieldTable {
    return own ?? this.table;
  }
}

function counted(earlier: readonly Field[], death: DeathEntry, newest: Field): readonly Field[] {
  const index = indexOf(earlier, death);
  if (index < 0) return [newest, ...earlier];
  const bumped = oneMore(earlier[index]!);
  if (bumped === undefined) return [newest]; // rule V5: a count that is no integer
  const deaths = earlier.slice();
  deaths.copyWithin(1, 0, index);
  deaths[0] = bumped;
  return deaths;
}

/** A plain loop: histories are short as a rule, but a long one must not be slower than it has to be. */
function indexOf(entries: readonly Field[], death: DeathEntry): number {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!;
    if (entry.type !== 'F' || entry.value.get('queue')?.value !== death.queue) continue;
    if (entry.value.get('reason')?.value === death.reason) return index;
  }
  return -1;
}

/** Rule H6: a repeated death only counts; everything else stays as it was the first time. */
function oneMore(entry: Field): Field | undefined {
  if (entry.type !== 'F') return undefined;
  const count = nextCount(entry.value.get('count'));
  if (count === undefined) return undefined;
  return { type: 'F', value: new Map(entry.value).set('count', count) };
}

function nextCount(count: Field | undefined): Field | undefined {
  if (count === undefined) return { type: 'l', value: 1 }; // rule H10
  const known = integerOf(count);
  if (known === undefined) return undefined;
  if (typeof known === 'bigint') return { type: 'l', value: BigInt.asIntN(64, known + 1n) };
  if (known === Number.MAX_SAFE_INTEGER) return { type: 'l', value: BigInt(known) + 1n };
  return { type: 'l', value: known + 1 }; // rule H9
}
