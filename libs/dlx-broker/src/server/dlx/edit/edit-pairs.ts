import type { Field, Message } from '../../../engine/message/index.js';
import { payloadOf } from '../payload.js';
import { typedTable, type TypedTable } from '../typed-field.js';

/** The most pairs, and the most bytes of each body and characters of each header that are shown. */
const most = { pairs: 10, bytes: 65_536, header: 4_096 };

/** The first messages of an edit, before and after it: for the answer of a dry run. */
export class EditPairs {
  readonly #pairs: object[] = [];

  add(position: number, before: Message, after: Message, headers: ReadonlyMap<string, Field | undefined>): void {
    if (this.#pairs.length >= most.pairs) return;
    const names = [...headers.keys()];
    this.#pairs.push({ id: String(position), before: shown(before, names), after: shown(after, names) });
  }

  get json(): readonly object[] {
    return this.#pairs;
  }
}

const shown = (message: Message, names: readonly string[]): object => ({
  headers: someOf(message, names),
  ...payloadOf(message, 'auto', most.bytes),
});

/** The headers that an edit names, as far as the message has them. */
function someOf({ own: { headers } }: Message, names: readonly string[]): TypedTable {
  const some = names.flatMap((name): (readonly [string, Field])[] => {
    const field = headers?.get(name);
    return field === undefined ? [] : [[name, field]];
  });
  return typedTable(new Map(some), most.header);
}
