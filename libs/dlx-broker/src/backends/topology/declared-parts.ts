import {
  checkedFieldTable,
  emptyTable,
  type Field,
  type FieldTable,
  isShortstr,
  maxShortstrBytes,
} from '../../engine/message/index.js';
import { DlxConfigurationError, optionsOf, refused } from '../../platform/options/index.js';

/** The name of a queue or an exchange that is declared. @throws DlxConfigurationError */
export function checkedName(name: unknown, origin: string): string {
  if (typeof name !== 'string') throw refused(name, origin, 'is not a string');
  if (name === '') throw refused(name, origin, 'is empty; write a name');
  if (!isShortstr(name)) throw refused(name, origin, `is longer than ${maxShortstrBytes} bytes`);
  return name;
}

/** A routing key, or several. @throws DlxConfigurationError unless it is a string or several, none longer than AMQP allows */
export function routingKeysOf(value: unknown, origin: string): readonly string[] {
  const keys: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const key of keys) {
    if (typeof key !== 'string') throw refused(key, `routingKey of ${origin}`, 'is not a string');
    if (!isShortstr(key)) {
      throw refused(key, `routingKey of ${origin}`, `is longer than ${maxShortstrBytes} bytes`);
    }
  }
  return keys as readonly string[];
}

/**
 * Headers or arguments as fields. Entries whose value is undefined are left out.
 * @param origin where the values are written, for the error: `headers of DlxRecordBuilder`
 * @throws DlxConfigurationError that names the value that cannot be sent
 */
export const fieldTableOf = (plain: Readonly<Record<string, unknown>>, origin: string): FieldTable =>
  checkedFieldTable(plain, {
    skipUndefined: true,
    refuse: (path, fault) => new DlxConfigurationError(`${origin}: '${path}' ${fault}`),
  });

/** Arguments as users write them: a plain object, or a Map of fields, which is taken as it is. @throws DlxConfigurationError */
export function checkedArguments(given: unknown, origin: string): FieldTable {
  if (given === undefined) return emptyTable;
  if (given instanceof Map) {
    for (const [name, field] of given as ReadonlyMap<unknown, unknown>) {
      if (typeof name === 'string' && isField(field)) continue;
      const remedy = "is no field such as { type: 'S', value: 'text' }; write a plain object instead of a Map";
      throw refused(field, `${origin}, '${String(name)}'`, remedy);
    }
    return given as FieldTable;
  }
  return fieldTableOf(optionsOf(given, origin, "write { 'x-message-ttl': 1000 }"), origin);
}

function isField(value: unknown): value is Field {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}
