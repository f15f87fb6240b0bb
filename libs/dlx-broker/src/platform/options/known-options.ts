import { DlxConfigurationError, refused } from './refused.js';

/**
 * An object of options. The values are not checked.
 * @param origin which options, for the error
 * @param remedy what to write instead: `write { attempts: 5 }`
 * @param known every option there is; by default any name is accepted
 * @throws DlxConfigurationError for anything but an object with names and values, and for an unknown option
 */
export function optionsOf<T extends object = Readonly<Record<string, unknown>>>(
  value: unknown,
  origin: string,
  remedy: string,
  known?: readonly (keyof NoInfer<T> & string)[],
): T {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map);
  if (!isRecord) throw refused(value, origin, `is not an object of options; ${remedy}`);
  if (known !== undefined) refuseUnknown(value, known, origin);
  return value as T;
}

/**
 * Checks that a value has the methods of an interface. The error never shows its content, because a client may hold a password.
 * @param what it is to be: `IdempotencyStore`
 * @throws DlxConfigurationError naming the method that is missing
 */
export function checkMethods(value: unknown, origin: string, what: string, methods: readonly string[]): void {
  const found = (value ?? {}) as Readonly<Record<string, unknown>>;
  const missing = methods.find((method) => typeof found[method] !== 'function');
  if (missing === undefined) return;
  const all = methods.length === 1 ? '' : `; those are ${methods.join(', ')}`;
  throw refused(typeof value, origin, `is no ${what}: it has no method ${missing}()${all}`);
}

/**
 * @param known every option there is
 * @throws DlxConfigurationError for an option that is not known: it names the nearest one and lists all
 */
export function refuseUnknown(given: object, known: readonly string[], origin: string): void {
  const unknown = Object.keys(given).find((option) => !known.includes(option));
  if (unknown === undefined) return;
  const meant = nearestWord(unknown, known) ?? beginningOf(unknown, known);
  const hint = meant === undefined ? '' : `did you mean '${meant}'? `;
  const all = `${known.length === 1 ? 'there is' : 'there are'} ${known.join(', ')}`;
  throw new DlxConfigurationError(`${origin}: '${unknown}' is no option; ${hint}${all}`);
}

/** The known word with which a longer one begins, such as `dataDir` of `dataDirectory`, or which begins with a shorter one of half its length. */
function beginningOf(word: string, words: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  return words.find((candidate) => {
    const other = candidate.toLowerCase();
    const [shorter, longer] = lower.length < other.length ? [lower, other] : [other, lower];
    return shorter.length >= 3 && shorter.length * 2 >= longer.length && longer.startsWith(shorter);
  });
}

/**
 * The known word that a misspelt one means: it differs in upper and lower case only, or in few letters.
 * @param most the number of letters in which they may differ; by default a third of them
 */
export function nearestWord(
  word: string,
  words: readonly string[],
  most = Math.floor(Math.min(word.length, longestWord) / 3),
): string | undefined {
  let nearest: string | undefined;
  let least = most + 1;
  for (const candidate of words) {
    if (Math.abs(candidate.length - Math.min(word.length, longestWord)) >= least) continue;
    const distance = distanceBetween(word.slice(0, longestWord).toLowerCase(), candidate.toLowerCase());
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

/** The end of a text about a misspelt word: a question with the known word that it means. Empty if no word is near. */
export function didYouMean(word: string, words: readonly string[]): string {
  const meant = nearestWord(word, words);
  return meant === undefined ? '' : `; did you mean '${meant}'?`;
}

/** No option is longer. A longer word is cut before it is compared. */
const longestWord = 40;

/** How many letters have to be inserted, deleted, replaced, or swapped with their neighbour (optimal string alignment). */
function distanceBetween(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const replaced = last[column - 1]! + (isSame ? 0 : 1);
      const swapped = isSwapped ? before[column - 2]! + 1 : Infinity;
      next.push(Math.min(last[column]! + 1, next[column - 1]! + 1, replaced, swapped));
    }
    before = last;
    last = next;
  }
  return last[other.length]!;
}
