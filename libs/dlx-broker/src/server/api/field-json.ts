import { maxNesting, type Field, type FieldTable } from '../../engine/message/index.js';

/** A JSON value that has no place in a field table; the message is RabbitMQ's reason (rule U1). */
export class FieldJsonError extends Error {
  override readonly name = 'FieldJsonError';
}

/**
 * The most values of one table, nested ones included. A frame of 128 KB holds few more, and a table is converted in one
 * turn.
 */
const mostValues = 131_072;

/** The number of values that may still be converted. */
interface Budget {
  left: number;
}

/** Arguments or headers of a parsed JSON object: integers become longs, fractions doubles (rule U1). @throws FieldJsonError */
export function tableOfJson(object: object): FieldTable {
  return tableOf(object, 1, { left: mostValues });
}

function tableOf(object: object, depth: number, budget: Budget): FieldTable {
  if (depth > maxNesting) throw new FieldJsonError(`nested more than ${maxNesting} levels deep`);
  const entries = object instanceof Map ? [...(object as Map<string, unknown>)] : Object.entries(object);
  take(budget, entries.length);
  return new Map(entries.map(([name, value]): [string, Field] => [name, fieldOf(value, depth, budget)]));
}

/** Counts values. @throws FieldJsonError when there are too many */
function take(budget: Budget, count: number): void {
  budget.left -= count;
  if (budget.left < 0) throw new FieldJsonError(`a table has more than ${mostValues} values, nested ones counted`);
}

function listOf(values: readonly unknown[], depth: number, budget: Budget): Field {
  take(budget, values.length);
  return { type: 'A', value: values.map((each) => fieldOf(each, depth + 1, budget)) };
}

function fieldOf(value: unknown, depth: number, budget: Budget): Field {
  switch (typeof value) {
    case 'string':
      return { type: 'S', value };
    case 'boolean':
      return { type: 't', value };
    case 'number':
      return numberOf(value);
    default:
      if (value === null || value === undefined) throw new FieldJsonError('null_not_allowed');
      if (depth > maxNesting) throw new FieldJsonError(`nested more than ${maxNesting} levels deep`);
      if (Array.isArray(value)) return listOf(value, depth, budget);
      return { type: 'F', value: tableOf(value as object, depth + 1, budget) };
  }
}

/** An integer is an int64, unless it has more than 64 bits. */
function numberOf(value: number): Field {
  const isLong = Number.isInteger(value) && !Object.is(value, -0) && Math.abs(value) < 2 ** 63;
  if (!isLong) return { type: 'd', value };
  return { type: 'l', value: Number.isSafeInteger(value) ? value : BigInt(value) };
}

/** Arguments or headers as JSON has them: an object without a prototype, so that no name is special. */
export function tableToJson(table: FieldTable): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>;
  for (const [name, field] of table) object[name] = fieldToJson(field);
  return object;
}

/** A value of arguments or headers as JSON has it. */
export function fieldToJson(field: Field): unknown {
  switch (field.type) {
    case 'F':
      return tableToJson(field.value);
    case 'A':
      return field.value.map(fieldToJson);
    case 'D':
      return field.value.value / 10 ** field.value.scale;
    case 'l':
    case 'T':
      return Number(field.value);
    case 'x':
      return textOrBase64(field.value);
    case 'V':
      return 'undefined';
    default:
      return field.value;
  }
}

/** Bytes that are text are shown as text. */
function textOrBase64(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const lines =
      Buffer.from(bytes)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    return `Not UTF-8, base64 is: ${lines.join('\n')}`;
  }
}
