import type { Listing } from '../command.js';
import { type Cell, entriesOf, Fields, Names, Real, Tuple, realText } from './cell.js';

/** A JSON array with one line for each row. */
export function jsonListing({ columns, rows, streamed }: Listing): string {
  if (rows.length === 0) return streamed ? '[\n]' : '[]';
  const objects = rows.map((row) => {
    const members = columns.map((name, index) => `${JSON.stringify(name)}:${jsonCell(row[index])}`);
    return `{${members.join(',')}}`;
  });
  return `[\n${objects.join('\n,')}\n]`;
}

function jsonCell(cell: Cell): string {
  if (cell === undefined) return '""';
  if (cell instanceof Real) return realText(cell.value);
  if (cell instanceof Names) return JSON.stringify(cell.names);
  if (cell instanceof Tuple) return JSON.stringify(cell.parts);
  if (cell instanceof Fields) return JSON.stringify(typed(cell.json));
  return JSON.stringify(cell);
}

/** Name, type and value. The types are those of JSON, because the management API does not have the AMQP types. */
const typed = (json: unknown): unknown[] => entriesOf(json).map(([name, value]) => [name, ...typedValue(value)]);

function typedValue(value: unknown): [string, unknown] {
  if (typeof value === 'string') return ['longstr', value];
  if (typeof value === 'number') return [Number.isInteger(value) ? 'long' : 'double', value];
  if (typeof value === 'boolean') return ['bool', value];
  if (Array.isArray(value)) return ['array', value.map(typedValue)];
  return value === null ? ['void', 'undefined'] : ['table', typed(value)];
}
