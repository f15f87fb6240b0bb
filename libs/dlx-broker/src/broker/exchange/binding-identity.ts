import type { Field, FieldTable } from '../../message/index.js';

/** Two bindings with the same key and arguments are one (rule P5); the order of the arguments does not matter. */
export function bindingIdentity(bindingKey: string, args: FieldTable): string {
  // The length first, for a key may contain whatever could part it from the arguments.
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
