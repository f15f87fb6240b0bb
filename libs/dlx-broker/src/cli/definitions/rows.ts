import { CtlFailure, exit } from '../ctl/exit.js';

/** An object of definitions. Clients choose its names and values, so each of them is checked. */
export type Row = Readonly<Record<string, unknown>>;

/** Definitions as RabbitMQ's tools write them: lists by the kind of object, and a few strings. */
export type Definitions = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns the rows of one kind; none where there is no such list @throws CtlFailure when it is no list of objects */
export function rowsIn(definitions: Definitions, kind: string): readonly Row[] {
  const list = definitions[kind] ?? [];
  if (Array.isArray(list) && list.every(isObject)) return list;
  throw new CtlFailure(exit.data, `Error: these are no definitions: '${kind}' is no list of objects`);
}

export const textOf = (row: Row, key: string): string => {
  const value = row[key];
  return typeof value === 'string' ? value : '';
};

export const objectOf = (row: Row, key: string): Row => {
  const value = row[key];
  return isObject(value) ? value : {};
};

/** A name and its virtual host in one text, for comparisons. */
export const placeOf = (row: Row, key = 'name'): string => JSON.stringify([textOf(row, 'vhost'), textOf(row, key)]);

/** As texts name it: `queue 'orders' in vhost '/'`. */
export const shownPlace = (kind: string, row: Row): string =>
  `${kind} '${textOf(row, 'name')}' in vhost '${textOf(row, 'vhost')}'`;
