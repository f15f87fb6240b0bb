import type { Field, FieldTable } from './field-table.js';

/** A table the broker writes itself, when somebody looks at all of it: most messages only wait and go on. */
export abstract class WrittenTable implements FieldTable {
  /** All of it. */
  protected abstract table(): FieldTable;

  /** One field, without writing the table if that can be. */
  abstract get(name: string): Field | undefined;

  get size(): number {
    return this.table().size;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  forEach(visit: (value: Field, key: string, map: FieldTable) => void): void {
    for (const [name, field] of this.table()) visit(field, name, this);
  }

  entries(): MapIterator<[string, Field]> {
    return this.table().entries();
  }

  keys(): MapIterator<string> {
    return this.table().keys();
  }

  values(): MapIterator<Field> {
    return this.table().values();
  }

  [Symbol.iterator](): MapIterator<[string, Field]> {
    return this.table().entries();
  }
}
