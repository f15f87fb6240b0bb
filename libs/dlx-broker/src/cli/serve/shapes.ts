import { CommandError } from '../command-error.js';

/** What a value of the configuration file has to be. @throws CommandError saying what is wrong where */
export type Shape = (value: unknown, where: string) => void;

export const simple =
  (what: string, fits: (value: unknown) => boolean): Shape =>
  (value, where) => {
    if (!fits(value)) throw new CommandError(`${where} must be ${what}, but is ${JSON.stringify(value)}`);
  };

export const text = simple('a string', (value) => typeof value === 'string');
export const boolean = simple('true or false', (value) => typeof value === 'boolean');
export const numberOrText = (what: string): Shape =>
  simple(what, (value) => typeof value === 'number' || typeof value === 'string');

const aList = simple('a list', Array.isArray);
const anObject = simple('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value));

export const list =
  (of: Shape): Shape =>
  (value, where) => {
    aList(value, where);
    (value as unknown[]).forEach((item, index) => of(item, `${where}[${index}]`));
  };

/** An object with these keys and no others. */
export const object =
  (keys: ReadonlyMap<string, Shape>, required: readonly string[] = []): Shape =>
  (value, where) => {
    anObject(value, where);
    for (const [key, item] of Object.entries(value as object)) {
      const shape = keys.get(key);
      if (shape === undefined)
        throw new CommandError(`${where}: unknown key '${key}' (known: ${[...keys.keys()].join(', ')})`);
      shape(item, `${where}: ${key}`);
    }
    const missing = required.find((key) => !Object.hasOwn(value as object, key));
    if (missing !== undefined) throw new CommandError(`${where}: ${missing} is missing`);
  };

/** An object with any keys. */
export const record =
  (of: Shape): Shape =>
  (value, where) => {
    anObject(value, where);
    for (const [key, item] of Object.entries(value as object)) of(item, `${where}.${key}`);
  };
