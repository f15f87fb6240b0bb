import { isShortstr } from '../../../../libs/dlx-broker/src/engine/message/index.js';

/** A topology or a command that is not understood; the message names the place. */
export class Misread extends Error {
  override readonly name = 'Misread';
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isName = (value: unknown): boolean => typeof value === 'string' && isShortstr(value);

/** How deep a table may be: what is deeper spends the stack of whatever reads it. */
const mostDeep = 50;

function isTable(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let deep = 0; level.length > 0; deep++) {
    if (deep > mostDeep) return false;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return isObject(value);
}

/** What a field may be, with the words for an error. */
const kinds: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  name: [isName, 'a text of at most 255 bytes'],
  text: [(value) => typeof value === 'string', 'a text'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  number: [Number.isSafeInteger, 'a whole number'],
  amount: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, 'a whole number from 0'],
  table: [isTable, `an object, at most ${mostDeep} deep`],
  names: [(value) => Array.isArray(value) && value.every(isName), 'a list of texts'],
};

/**
 * Checks that a value is an object with these fields and no others.
 * @param fields `key:name count?:amount ...`; those with `?` may be absent
 * @throws Misread
 */
export function checkFields(value: unknown, fields: string, where: string): void {
  if (!isObject(value)) throw new Misread(`${where} is not an object`);
  const known = new Map(fields.split(' ').map((field) => field.split(':') as [string, string]));
  for (const name of Object.keys(value))
    if (!known.has(name) && !known.has(`${name}?`))
      throw new Misread(`${where} has '${name}', which is none of ${[...known.keys()].join(', ').replaceAll('?', '')}`);
  for (const [field, kind] of known) {
    const name = field.replace('?', '');
    if (value[name] === undefined && name !== field) continue;
    const [check, words] = kinds[kind] ?? [];
    if (check?.(value[name]) !== true) throw new Misread(`${where}: '${name}' is not ${words}`);
  }
}
