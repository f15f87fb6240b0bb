import { checkMethods, flag, oneOf, refused, refuseUnknown, text, whole } from '../../platform/options/index.js';

/** Throws a DlxConfigurationError, or lets a value pass. */
export type Check = (value: unknown, origin: string) => unknown;

/** The keys of every member of a union. */
type KeyOf<T> = T extends unknown ? keyof T : never;

/** One row for each option of T: its name, and the check of its value. */
export type Checks<T> = Readonly<Record<KeyOf<T>, Check>>;

/**
 * Checks options by name and by type. An option that is undefined is left out.
 * @param origin what takes the options: `embedded()`
 * @throws DlxConfigurationError naming the option, the value, and the nearest option there is
 */
export function checkAll(given: Readonly<Record<string, unknown>>, checks: Checks<object>, origin: string): void {
  const rows = new Map<string, Check>(Object.entries(checks));
  refuseUnknown(given, [...rows.keys()], origin);
  for (const [option, value] of Object.entries(given)) {
    if (value !== undefined) rows.get(option)?.(value, optionIn(origin, option));
  }
}

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

/** A whole number of bytes. */
export const areBytes: Check = (value, origin) => whole(0, Number.MAX_SAFE_INTEGER).read(value, origin);

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
