/** Exit codes. Those above 2 are of sysexits.h. */
export const exit = {
  ok: 0,
  /** A data directory is damaged. */
  damaged: 1,
  /** The command cannot be carried out. */
  refused: 2,
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

/** Ends a command with an exit code. The message goes to standard error, see {@link shownError}. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly code: (typeof exit)[keyof typeof exit] = exit.refused,
  ) {
    super(message);
  }
}

export const isOfStore = (error: unknown): error is Error => error instanceof Error && error.name === 'StoreError';

/** An error of the disk is shown without a stack, because its place in this code is of no use to operators. */
export const logOf = (error: unknown): string =>
  isOfStore(error) ? error.message : String((error as Error).stack ?? error);

/** The error of a command as standard error shows it. Control characters are escaped later. */
export function shownError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof CommandError) return `${error.code === exit.refused ? 'dlx-broker' : 'Error'}: ${message}`;
  if (code?.startsWith('ERR_OSSL')) return `dlx-broker: the certificate and key of TLS cannot be used: ${message}`;
  return `dlx-broker: ${message.split('\n')[0]}`;
}

/** The commands whose errors end with one code, also that of a wrong command line. */
const withOneCode = ['serve', 'data', 'init', 'definitions'];

/** The exit code of a wrong command line. @param words of the command line, behind the name of the program */
export const codeOfWrong = ([command = '']: readonly string[]): number =>
  withOneCode.includes(command) ? exit.refused : exit.usage;

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
