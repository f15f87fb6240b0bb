import type { Field, FieldTable } from '../../message/index.js';

/** A text that two bindings share if they have the same key and arguments, in any order: they are one binding (rule P5). */
export function bindingIdentity(bindingKey: string, args: FieldTable): string {
  // The length comes first, because a key may contain any separator.
  return args.size === 0
    ? `${bindingKey.length}:${bindingKey}`
    : `${bindingKey.length}:${bindingKey}${tableIdentity(args)}`;
}

function tableIdentity(table: FieldTable): string {
  const names = [...table.keys()].sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${fieldIdentity(table.get(name) as Field)}`).join()}}`;
}

function fieldIdentity(field: Field): string {
  switch (field.type) {
    case 'A':
      return `A[${field.value.map(fieldIdentity).join()}]`;
    case 'F':
      return `F${tableIdentity(field.value)}`;
    case 'x':
      return `x${Array.from(field.value, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
    case 'D':
      return `D${field.value.value}e-${field.value.scale}`;
    default:
      return `${field.type}${JSON.stringify(String(field.value))}`;
  }
}
