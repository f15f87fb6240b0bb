import { nearestWord } from '../../options/index.js';
import type { Command, OptionKind, OptionValue } from './command.js';

/** Options that every command accepts. */
export const common: Readonly<Record<string, OptionKind>> = {
  url: 'text',
  user: 'text',
  password: 'text',
  vhost: 'text',
  timeout: 'whole',
  quiet: 'flag',
  silent: 'flag',
  formatter: 'text',
  help: 'flag',
  'no-table-headers': 'flag',
  // Known, so that their error names the replacement.
  node: 'text',
  longnames: 'flag',
};

const commonShort: Readonly<Record<string, string>> = {
  p: 'vhost',
  t: 'timeout',
  q: 'quiet',
  s: 'silent',
  n: 'node',
  l: 'longnames',
  '?': 'help',
};

/** Options whose value must not be shown. */
const secretOptions: readonly string[] = ['password', 'url'];

/** True for a misspelt secret option: its value is a secret as well. */
function looksSecret(name: string): boolean {
  const word = name.replace(/^-+/, '');
  return /pass|pwd|secret/i.test(word) || nearestWord(word, secretOptions) !== undefined;
}

/** User and password in a URL. */
const userInfo = /\/\/\S*@/;

export interface CommandLine {
  readonly args: readonly string[];
  readonly options: ReadonlyMap<string, OptionValue>;
  /** Invalid options, for the error: name, and value or ''. */
  readonly invalid: readonly (readonly [string, string])[];
  /** The command line without passwords, for output. */
  readonly shown: string;
}

/** An option in one word of the command line. */
interface OptionInWord {
  readonly name: string;
  readonly kind: OptionKind | undefined;
  readonly value: string | undefined;
  readonly spelt: string;
}

const isNumber = (word: string): boolean => /^-\.?[0-9]/.test(word);
const isOption = (word: string): boolean => word.length > 1 && word.startsWith('-') && !isNumber(word);

/** Parses a command line. @param command the command whose options are known; without it only the common ones */
export function parseCommandLine(words: readonly string[], command?: Command): CommandLine {
  const kinds: Readonly<Record<string, OptionKind>> = { ...common, ...command?.options };
  const short: Readonly<Record<string, string>> = { ...commonShort, ...command?.short };
  const args: { readonly at: number; readonly word: string }[] = [];
  const options = new Map<string, OptionValue>();
  const invalid: [string, string][] = [];
  const shown = [...words];

  const take = (at: number): number => {
    for (const { name, kind, value, spelt } of optionsIn(words[at] as string, kinds, short)) {
      const isHidden = kind === undefined ? looksSecret(name) : secretOptions.includes(name);
      if (kind === undefined) {
        invalid.push([spelt, '']);
        if (!isHidden) continue;
        hide(shown, at, spelt, value);
        if (value === undefined && isValue(words[at + 1])) return at + 2;
      } else if (kind === 'flag') setFlag(options, invalid, name, value, spelt);
      else {
        const next = words[at + 1];
        // A password may begin with a dash, but a known option is none.
        const mayFollow = isHidden ? isValue(next) : next !== undefined && !isOption(next) && next !== '--';
        const given = value ?? (mayFollow ? next : undefined);
        if (isHidden) hide(shown, at, spelt, value);
        if (given === undefined) invalid.push([spelt, '']);
        else if (kind === 'whole' && !/^-?[0-9]{1,15}$/.test(given)) invalid.push([spelt, given]);
        else options.set(name, kind === 'whole' ? Number(given) : given);
        if (value === undefined && given !== undefined) return at + 2;
      }
    }
    return at + 1;
  };

  const isValue = (word: string | undefined): boolean => {
    if (word === undefined || word === '--') return false;
    return !isOption(word) || optionsIn(word, kinds, short).some(({ kind }) => kind === undefined);
  };

  let at = 0;
  while (at < words.length) {
    const word = words[at] as string;
    if (word === '--') {
      for (let rest = at + 1; rest < words.length; rest += 1) args.push({ at: rest, word: words[rest] as string });
      break;
    }
    if (isOption(word)) at = take(at);
    else args.push({ at: at++, word });
  }
  if (command?.secret !== undefined) {
    // The first word that is no option is the command's name. A password with blanks that is not quoted is several words.
    for (const { at: place } of args.slice(command.secret + 1)) shown[place] = '***';
  }
  return {
    args: args.map(({ word }) => word),
    options,
    invalid,
    shown: shown.map((word) => word.replace(userInfo, '//***@')).join(' '),
  };
}

/** Hides the value in the word of an option, or else the word that follows, whatever it is. */
function hide(shown: string[], at: number, spelt: string, glued: string | undefined): void {
  if (glued !== undefined) shown[at] = `${spelt}=***`;
  else if (at + 1 < shown.length) shown[at + 1] = '***';
}

/** A word such as `--vhost=/`, `--no-online`, `-p` or `-qs`. */
function optionsIn(
  word: string,
  kinds: Readonly<Record<string, OptionKind>>,
  short: Readonly<Record<string, string>>,
): readonly OptionInWord[] {
  const equals = word.indexOf('=');
  const spelt = equals < 0 ? word : word.slice(0, equals);
  const value = equals < 0 ? undefined : word.slice(equals + 1);
  if (spelt.startsWith('--')) {
    const name = spelt.slice(2);
    const kind = known(kinds, name);
    const turnedOff = name.startsWith('no-') ? name.slice(3) : '';
    if (kind === undefined && value === undefined && known(kinds, turnedOff) === 'flag')
      return [{ name: turnedOff, kind: 'flag', value: 'false', spelt }];
    return [{ name, kind, value, spelt }];
  }
  const letters = Array.from(spelt.slice(1));
  const names = letters.map((letter) => known(short, letter));
  if (names.some((name) => name === undefined)) return [{ name: spelt, kind: undefined, value, spelt }];
  return names.map((name, index) => ({
    name: name as string,
    // Only the last of several short options can have a value.
    kind: index === names.length - 1 || kinds[name as string] === 'flag' ? kinds[name as string] : undefined,
    value: index === names.length - 1 ? value : undefined,
    spelt: `-${letters[index]}`,
  }));
}

function setFlag(
  options: Map<string, OptionValue>,
  invalid: [string, string][],
  name: string,
  value: string | undefined,
  spelt: string,
): void {
  if (value === undefined || value === 'true') options.set(name, true);
  else if (value === 'false') options.set(name, false);
  else invalid.push([spelt, value]);
}

const known = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
