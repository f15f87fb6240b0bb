import { shownText } from '../../../host/index.js';

/** The value of a cell; undefined where RabbitMQ has none. */
export type Cell = string | number | boolean | undefined | Real | Names | Fields | Tuple;

/** A float: Erlang writes whole floats with `.0`. */
export class Real {
  constructor(readonly value: number) {}

  toString(): string {
    return realText(this.value);
  }
}

/** A list of bare names: tags, nodes. */
export class Names {
  constructor(readonly names: readonly string[]) {}

  toString(): string {
    return `[${this.names.join(', ')}]`;
  }
}

/** Numbers in braces. */
export class Tuple {
  constructor(readonly parts: readonly number[]) {}

  toString(): string {
    return `{${this.parts.join(',')}}`;
  }
}

/** A field table as JSON. */
export class Fields {
  constructor(readonly json: unknown) {}

  toString(): string {
    return fieldsText(this.json);
  }
}

/** The text of a cell. Control characters are escaped, because clients choose names. */
export const cellText = (cell: Cell): string => (cell === undefined ? '' : shownText(String(cell)));

export const realText = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

/** `[{"x-max-length",5},{"x-match","all"}]`: names and values, without their types. */
const fieldsText = (json: unknown): string =>
  `[${entriesOf(json)
    .map(([name, value]) => `{${quoted(name)},${valueText(value)}}`)
    .join(',')}]`;

/** The entries of a table. RabbitMQ writes an empty table as `[]`. */
export const entriesOf = (json: unknown): readonly (readonly [string, unknown])[] =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? Object.entries(json) : [];

function valueText(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : realText(value);
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  return value === null || value === undefined ? 'undefined' : fieldsText(value);
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\' };

/** Erlang writes an empty string as an empty list, because a string is a list of characters. */
const quoted = (text: string): string =>
  text === '' ? '[]' : `"${text.replace(/[\n\t\r"\\]/g, (one) => escapes[one] as string)}"`;
