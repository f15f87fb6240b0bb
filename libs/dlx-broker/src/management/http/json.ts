import { Problem } from './reply.js';

/** Rows of a list in a reply. A row is made when it is written, so that a long list is made in turns. */
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

  /** All rows, for callers that do not write in turns. */
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

/** A reply that was written already. */
export class WrittenJson {
  constructor(
    readonly pieces: readonly Uint8Array[],
    /** The length of all pieces. */
    readonly bytes: number,
  ) {}
}

/** The characters that are encoded in one step. */
const pieceSize = 65_536;
/** The values that are written in one step: some hundredths of a millisecond. */
const light = 256;

/** Collects JSON as bytes. */
export class JsonSink {
  readonly #pieces: Uint8Array[] = [];
  #text = '';
  #bytes = 0;

  /** @param limit the most bytes */
  constructor(readonly limit: number) {}

  /** The bytes so far; characters that are not encoded yet count as one each. */
  get bytes(): number {
    return this.#bytes + this.#text.length;
  }

  /**
   * Appends JSON.
   * @throws Problem 413 above the limit
   */
  add(json: string): void {
    this.#text += json;
    if (this.#text.length >= pieceSize) this.#flush();
  }

  /**
   * Appends JSON that was written already.
   * @throws Problem 413 above the limit
   */
  addWritten({ pieces, bytes }: WrittenJson): void {
    this.#flush();
    this.#bytes += bytes;
    if (this.#bytes > this.limit) throw tooLarge(this.limit);
    this.#pieces.push(...pieces);
  }

  end(): WrittenJson {
    this.#flush();
    return new WrittenJson(this.#pieces, this.#bytes);
  }

  #flush(): void {
    const piece = Buffer.from(this.#text);
    this.#text = '';
    this.#bytes += piece.length;
    if (this.#bytes > this.limit) throw tooLarge(this.limit);
    this.#pieces.push(piece);
  }
}

/** The refusal of a reply that is too long; its reason names the ways to ask for less. */
export const tooLarge = (limit: number): Problem =>
  new Problem(
    413,
    'reply_too_large',
    `the reply would be over ${limit} bytes. Ask for less: a page (page, page_size), some columns (columns), one virtual ` +
      'host or one object, or of messages fewer (count, page_size) or their beginnings (truncate)',
  );

/**
 * Writes a value as `JSON.stringify` does. Yields wherever it may pause: between the rows of {@link Rows}, and between
 * the parts of large values.
 * @param limit the most bytes
 * @throws Problem 413 above the limit
 */
export function* writtenJson(value: unknown, limit: number): Generator<void, WrittenJson, void> {
  const sink = new JsonSink(limit);
  yield* write(value, sink);
  return sink.end();
}

function* write(value: unknown, sink: JsonSink): Generator<void, void, void> {
  if (value instanceof WrittenJson) return sink.addWritten(value);
  if (value instanceof Rows || (Array.isArray(value) && weight(value, light) <= 0))
    return yield* writeList(value, sink);
  if (typeof value === 'string' && value.length > pieceSize) return yield* writeText(value, sink);
  if (!isPlain(value) || weight(value, light) > 0) return sink.add(JSON.stringify(value) ?? 'null');
  let before = '{';
  for (const name of Object.keys(value)) {
    const part = value[name];
    if (part === undefined) continue;
    sink.add(`${before}${JSON.stringify(name)}:`);
    before = ',';
    yield* write(part, sink);
    yield;
  }
  sink.add(before === '{' ? '{}' : '}');
}

function* writeList(list: Iterable<unknown>, sink: JsonSink): Generator<void, void, void> {
  let before = '[';
  for (const each of list) {
    sink.add(before);
    before = ',';
    yield* write(each, sink);
    yield;
  }
  sink.add(before === '[' ? '[]' : ']');
}

/** Writes a long text in parts. Surrogate pairs are not split. */
function* writeText(text: string, sink: JsonSink): Generator<void, void, void> {
  sink.add('"');
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + pieceSize);
    if (isHighSurrogate(text.charCodeAt(to - 1)) && to < text.length) to++;
    sink.add(JSON.stringify(text.slice(from, to)).slice(1, -1));
    from = to;
    yield;
  }
  sink.add('"');
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;

/** True for an object that JSON writes by its own keys. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return typeof (value as { readonly toJSON?: unknown }).toJSON !== 'function';
}

/**
 * Subtracts the number of nested values, the value itself included, from a limit.
 * @returns 0 or less above the limit
 */
function weight(value: unknown, left: number): number {
  if (typeof value === 'string') return left - 1 - (value.length >> 10);
  if (typeof value !== 'object' || value === null) return left - 1;
  if (value instanceof Rows || value instanceof WrittenJson) return 0;
  let rest = left - 1;
  if (Array.isArray(value)) {
    if (value.length >= rest) return 0;
    for (const each of value) if ((rest = weight(each, rest)) <= 0) return 0;
    return rest;
  }
  for (const name in value) {
    rest = weight((value as Readonly<Record<string, unknown>>)[name], rest);
    if (rest <= 0) return 0;
  }
  return rest;
}
