import { checkMethods, flag, oneOf, refused, refuseUnknown, text, whole } from '../../platform/options/index.js';

type Given = Readonly<Record<string, unknown>>;

/**
 * Reads an option: it checks the value, and returns what the library uses.
 * @param value undefined if the option is left out
 * @param beside all options as they were given, perhaps unchecked
 * @throws DlxConfigurationError naming the option and the value
 */
export type Reader<T> = (value: unknown, origin: string, beside?: Given) => T;

/** Throws a DlxConfigurationError, or lets a value pass. */
export type Check = Reader<unknown>;

/** The keys of every member of a union. */
type KeyOf<T> = T extends unknown ? keyof T : never;

/** One row for each option of T: its name, and the check of its value. */
export type Checks<T> = Readonly<Record<KeyOf<T>, Check>>;

/**
 * Checks options by name and by type. An option that is undefined is left out.
 * @param origin what takes the options: `embedded()`
 * @throws DlxConfigurationError naming the option, the value, and the nearest option there is
 */
export function checkAll(given: Given, checks: Checks<object>, origin: string): void {
  const rows = new Map<string, Check>(Object.entries(checks));
  refuseUnknown(given, [...rows.keys()], origin);
  for (const [option, value] of Object.entries(given)) {
    if (value !== undefined) rows.get(option)?.(value, optionIn(origin, option), given);
  }
}

/** The options that readers return. */
export type ReadBy<Rows extends Readonly<Record<string, Check>>> = {
  readonly [Option in keyof Rows]: ReturnType<Rows[Option]>;
};

/** Reads all options. @param origin what takes them @throws DlxConfigurationError */
export const readAll = <Rows extends Readonly<Record<string, Check>>>(
  given: Given,
  rows: Rows,
  origin: string,
): ReadBy<Rows> =>
  Object.fromEntries(
    Object.entries(rows).map(([option, read]) => [option, read(given[option], optionIn(origin, option), given)]),
  ) as ReadBy<Rows>;

/** The reader of an option that is used as it is given. @param preset the value if it is left out */
export const asGiven =
  <T>(check: Check, preset: T): Reader<T> =>
  (value, origin) => {
    if (value === undefined) return preset;
    check(value, origin);
    return value as T;
  };

/**
 * Where a member of an option is written: `option 'listen.amqp.port' of embedded()`.
 * @param origin where the options around it are written
 * @param member a name, or an index such as `[0]`
 */
export function optionIn(origin: string, member: string): string {
  const [outer, path = ''] = /^option '([^']*)'/.exec(origin) ?? [];
  if (outer === undefined) return `option '${member}' of ${origin}`;
  return `option '${path}${member.startsWith('[') ? '' : '.'}${member}'${origin.slice(outer.length)}`;
}

/** The check of an option that is checked where it is used. */
export const readLater: Check = () => undefined;

export const isText: Check = (value, origin) => {
  if (text.read(value, origin).value === '') throw refused(value, origin, 'is empty; write a string, or leave it out');
};

export const isFunction: Check = (value, origin) => {
  if (typeof value !== 'function') throw refused(value, origin, 'is not a function');
};

export const isWhole =
  (least: number, most: number): Check =>
  (value, origin) =>
    whole(least, most).read(value, origin);

/** A whole number of bytes. */
export const areBytes = isWhole(0, Number.MAX_SAFE_INTEGER);

export const isOneOf =
  (...words: readonly string[]): Check =>
  (value, origin) =>
    oneOf(...words).read(value, origin);

export const isFlag: Check = (value, origin) => flag.read(value, origin);

/** Something with methods. */
export const has =
  (what: string, ...methods: readonly string[]): Check =>
  (value, origin) => {
    checkMethods(value, origin, what, methods);
  };
