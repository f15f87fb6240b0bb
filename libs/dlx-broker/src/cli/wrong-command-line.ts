import { exit } from './ctl/exit.js';

/** Exit code: the command cannot be carried out. */
export const refused = 2;

/** The commands whose refusals end with one code, also that of a wrong command line. All others have those of `exit`. */
const withOneCode = ['serve', 'data', 'init', 'definitions'];

/** The exit code of a wrong command line. @param words of the command line, behind the name of the program */
export const codeOfWrong = ([command = '']: readonly string[]): number =>
  withOneCode.includes(command) ? refused : exit.usage;

/** The commands that have commands of their own, with an example of one that takes `--url`. */
const examples: Readonly<Record<string, string>> = {
  ctl: 'ctl list_queues',
  'dead-letters': 'dead-letters list',
  queues: 'queues pause QUEUE',
  handlers: 'handlers list',
};

/**
 * The text of an error of the command line. A misspelt `--password=...` is shown without its value. An option that stands before its
 * command gets the remedy.
 * @param words of the command line, behind the name of the program
 */
export function wrongText(text: string, words: readonly string[]): string {
  const safe = text.replace(/(unknown option '-[^=\n]*)=.*/, "$1'");
  const [, option = ''] = /unknown option '(--(?:url|user|password|json|vhost)|-p)'/.exec(safe) ?? [];
  const before = words
    .slice(
      0,
      words.findIndex((word) => word.split('=')[0] === option),
    )
    .join(' ');
  const example = before === '' ? 'dead-letters list' : examples[before];
  if (option === '' || example === undefined) return safe;
  return `error: write ${option} behind the command, as in 'dlx-broker ${example} ${option} ...'\n`;
}
