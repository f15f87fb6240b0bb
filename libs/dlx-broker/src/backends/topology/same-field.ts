import { fromField, integerOf } from '../../engine/message/index.js';
import type { Field, FieldTable } from '../../engine/message/index.js';

/** One line for people: `x-message-ttl=30000`. */
export function showField(field: Field | undefined): string {
  if (field === undefined) return 'absent';
  if (field.type === 'S') return field.value;
  return (
    JSON.stringify(fromField(field), (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ??
    'void'
  );
}

/** Equal for a broker: integers compare by value whatever their width. */
export function sameField(one: Field | undefined, other: Field | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return kindOf(one) === kindOf(other) && showField(one) === showField(other);
}

export function sameTable(one: FieldTable, other: FieldTable): boolean {
  if (one.size !== other.size) return false;
  for (const [name, field] of one) if (!other.has(name) || !sameField(field, other.get(name))) return false;
  return true;
}

const kindOf = (field: Field): string => (integerOf(field) === undefined ? field.type : 'integer');
