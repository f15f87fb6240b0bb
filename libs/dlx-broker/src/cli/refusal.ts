/** A command is refused. The message is the one line of output; the exit code is 2. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Exit codes: those of sysexits.h. */
export const exit = {
  ok: 0,
  /** The command line is wrong. */
  usage: 64,
  /** What was named does not exist, or what was given cannot be read. */
  data: 65,
  /** The broker cannot be reached, or it refused. */
  unavailable: 69,
  /** An internal fault. */
  software: 70,
  /** It took too long. */
  temporary: 75,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

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

/** The levels of the log on standard error. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];
