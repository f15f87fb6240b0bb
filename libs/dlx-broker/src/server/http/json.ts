/** Rows of a list in a reply. A row is made when it is written. */
export class Rows<T, R = unknown> implements Iterable<R> {
  readonly #items: Iterable<T>;
  readonly #show: (item: T) => R;

  constructor(items: Iterable<T>, show: (item: T) => R) {
    this.#items = items;
    this.#show = show;
  }

  *[Symbol.iterator](): Generator<R, void, void> {
    for (const item of this.#items) yield this.#show(item);
  }

  /** All rows, for rows within rows. */
  toJSON(): readonly R[] {
    return [...this];
  }
}

/** Rows of several lists, one list after the other. */
export function joined<R>(lists: readonly Iterable<R>[]): Rows<R, R> {
  const all: Iterable<R> = {
    *[Symbol.iterator]() {
      for (const list of lists) yield* list;
    },
  };
  return new Rows(all, (row) => row);
}

/** JSON that was written already. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Writes a value as `JSON.stringify` does, in pieces: each row of {@link Rows} at the top, or in an object there, is one. */
export function* jsonPieces(value: unknown): Generator<string, void, void> {
  if (value instanceof JsonText) return yield value.text;
  if (value instanceof Rows) return yield* listPieces(value);
  if (!hasRows(value)) return yield JSON.stringify(value) ?? 'null';
  let before = '{';
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    yield* jsonPieces(part);
  }
  yield '}';
}

function* listPieces(rows: Rows<unknown>): Generator<string, void, void> {
  let before = '[';
  for (const row of rows) {
    yield `${before}${JSON.stringify(row) ?? 'null'}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** True for an object with a value that is written in pieces. */
function hasRows(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((part) => part instanceof Rows || part instanceof JsonText || hasRows(part));
}
