import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { shownLines } from '../platform/index.js';
import { didYouMean } from '../platform/options/index.js';
import { addressOf, Api, type LoginFlags, reasonOf, type Reply, type Sent } from './api.js';
import { CommandError, exit, shownError } from './command-error.js';

/** The options of all commands about dead letters. */
export interface CommonFlags extends LoginFlags {
  readonly vhost?: string;
  readonly json?: true;
}

/** The environment and the outputs of a command. */
export interface CommandOutput {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  error(text: string): void;
  /** Absent: nothing is drawn, and an interrupt ends the process. */
  readonly terminal?: Terminal;
  /** All of standard input. */
  readonly stdin?: () => Promise<string>;
}

/** Writes lines, each with its end, as fast as the reader reads. */
export const writing =
  ({ out, terminal }: CommandOutput) =>
  async (lines: string): Promise<void> =>
    terminal === undefined ? out(lines.slice(0, -1)) : terminal.write(lines);

/** What a command can do with the terminal of its user. */
export interface Terminal {
  /** Characters of a line on standard error; undefined if standard error is no terminal, and progress is not drawn. */
  readonly width: number | undefined;
  /** True if standard output is a terminal that can be cleared. */
  readonly clears: boolean;
  /** Writes to standard error, as it is. */
  draw(text: string): void;
  /** Writes to standard output, as it is. Resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** Calls `then` at the first Ctrl+C, in place of the end of the process. @returns a function that undoes this */
  onInterrupt(then: () => void): () => void;
}

/**
 * @param missing what does not exist when the server answers 404, for the error; undefined if the path names nothing
 * @throws CommandError with the reason of the server: exit code 65 if something does not exist, 64 for an invalid request
 */
export async function ask(
  api: Api,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: readonly string[],
  missing: string | undefined,
  sent: Sent = {},
): Promise<Reply> {
  const reply = await api.call(method, path, [200, 201, 204, 400, 404, 405, 409, 501], sent);
  if (reply.status < 400) return reply;
  const reason = reasonOf(reply.body);
  // A RabbitMQ has none of these paths.
  const isKnown = reason !== undefined && reply.status !== 405 && (reply.status !== 404 || missing !== undefined);
  if (!isKnown) {
    const text = `what is at '${api.address.base}' is no dlx-broker: it answers ${reply.status}; name the HTTP API of one by --url or DLX_BROKER_URL. A RabbitMQ has no API for dead letters, and cannot pause a queue`;
    throw new CommandError(text, exit.unavailable);
  }
  if (reply.status === 404) throw new CommandError(`there is no ${missing}`, exit.data);
  throw new CommandError(`${inOptions(reason)}`, reply.status === 400 ? exit.usage : exit.unavailable);
}

/** The option for each parameter of the API. */
const options: ReadonlyMap<string, string> = new Map([
  ...['reason', 'exchange', 'error', 'fingerprint', 'text', 'by', 'for', 'rate', 'limit'].map(
    (name): readonly [string, string] => [name, name],
  ),
  ['queue', 'died-in'],
  ['first_queue', 'first-queue'],
  ['routing_key', 'routing-key'],
  ['older_than', 'older-than'],
  ['younger_than', 'younger-than'],
  ['page_size', 'limit'],
]);

/** A reason of the server that begins with the name of a parameter, with the name of the option in its place. */
const inOptions = (reason: string): string =>
  reason.replace(/^(?:'(\w+)'(?= (?:should be|is empty|is longer))|(reason)(?= has \d))/, (whole, quoted, plain) => {
    const option = options.get((quoted ?? plain) as string);
    return option === undefined ? whole : `--${option}`;
  });

/** The failure of a command that names messages by their ids, none of which is ready in the queue. */
export const noneOf = (ids: readonly string[], queue: string, vhost: string): CommandError => {
  const none = ids.length === 1 ? `there is no message ${ids[0]}` : 'there are none of these messages';
  return new CommandError(`${none} ${placeOfIds(queue, vhost)}`, exit.data);
};

/** The queue of a message that is not there, and the command that shows the ids. */
export const placeOfIds = (queue: string, vhost: string): string =>
  `in ${shownQueue(queue, vhost)}; 'dlx-broker dead-letters list ${queue}' shows the ids`;

/** An error shows a queue by its name and its virtual host. */
export const shownQueue = (queue: string, vhost: string): string => `queue '${queue}' in vhost '${vhost}'`;

/**
 * Asks about a queue.
 * @param more what of the queue is asked for, such as `pause`
 * @throws CommandError as {@link ask}. If there is no such queue, it names the one with the most similar name
 */
export async function askOfQueue(
  api: Api,
  method: 'GET' | 'PUT' | 'DELETE',
  [vhost, queue, ...more]: readonly [vhost: string, queue: string, ...more: readonly string[]],
  sent?: Sent,
): Promise<Reply> {
  try {
    return await ask(api, method, ['dlx', 'queues', vhost, queue, ...more], shownQueue(queue, vhost), sent);
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== exit.data) throw error;
    throw new CommandError(`${error.message}${didYouMean(queue, await queuesOf(api, vhost))}`, exit.data);
  }
}

/** The names of the queues that the user may see; empty if the server does not list them. */
async function queuesOf(api: Api, vhost: string): Promise<readonly string[]> {
  const { status, body } = await api.send('GET', ['queues', vhost], { query: { columns: 'name' } });
  return status === 200 && Array.isArray(body) ? (body as readonly { name: string }[]).map(({ name }) => name) : [];
}

/** Adds the options of all commands that look at a virtual host. @param preset the default of `--vhost`, for the help */
export const withVhost = (command: Command, preset = '/'): Command =>
  withServer(command.option('-p, --vhost <VHOST>', `the virtual host (default: ${preset})`));

/** Adds the options that all commands have. */
export const withServer = (command: Command): Command =>
  withLogin(command).option('--json', 'answer as the HTTP API does');

/** Adds the options that name a server and its user. */
export const withLogin = (command: Command): Command =>
  command
    .option('--url <URL>', 'the HTTP API (default: DLX_BROKER_URL or http://127.0.0.1:15672)')
    .option('--user <USER>', 'who asks (default: DLX_BROKER_USER)')
    .option('--password <PASSWORD>', 'also as DLX_BROKER_PASSWORD, which no list of processes shows');

export const withWatch = (command: Command): Command =>
  command.option('--watch [SECONDS]', 'ask again and again until Ctrl+C (default: every 2 seconds)');

/**
 * The API of the server that the options name, or else the environment.
 * @param name of the command, for errors
 * @throws CommandError
 */
export function apiOf(name: string, flags: LoginFlags & { readonly timeout?: string }, env: CommandOutput['env']): Api {
  const { timeout } = flags;
  if (timeout !== undefined && !(Number(timeout) > 0))
    throw new CommandError(`--timeout must be a number of seconds above 0, but is '${timeout}'`, exit.usage);
  return new Api(addressOf(flags, env), timeout === undefined ? undefined : Number(timeout) * 1000, name);
}

/** The environment, outputs and input of this process. */
export const processOutput: CommandOutput = {
  env: process.env,
  out: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
  stdin: () => readInput(process),
  terminal: terminalOf(process),
};

/** All of standard input; from a terminal one line, which is not shown while it is typed. */
async function readInput({ stdin, stderr }: NodeJS.Process): Promise<string> {
  if (!stdin.isTTY) return text(stdin);
  stderr.write('Password: ');
  const silent = new Writable({ write: (_part, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  lines.once('SIGINT', () => process.exit(130));
  const line = await lines.question('');
  lines.close();
  stderr.write('\n');
  return line;
}

/** The terminal of this process. */
function terminalOf({ stdout, stderr }: NodeJS.Process): Terminal {
  return {
    width: stderr.isTTY === true ? stderr.columns || 80 : undefined,
    clears: stdout.isTTY === true,
    draw: (text) => void stderr.write(text),
    write: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(text, (error) => {
          if ((error as NodeJS.ErrnoException | null | undefined)?.code === 'EPIPE') return; // this process ends
          if (error) reject(new CommandError(`the output cannot be written: ${error.message}`, exit.unavailable));
          else resolve();
        });
      }),
    onInterrupt: (then) => {
      process.once('SIGINT', then);
      return () => void process.off('SIGINT', then);
    },
  };
}

export interface WatchFlags {
  /** Seconds, or true for the default. */
  readonly watch?: string | true;
}

const presetSeconds = 2;
const leastSeconds = 0.1;

/**
 * Shows a string, with `--watch` again and again until an interrupt.
 * @param ask gets the text from the server
 * @throws CommandError of `ask`, which ends the watch
 */
export async function watching(flags: WatchFlags, ask: () => Promise<string>, output: CommandOutput): Promise<void> {
  if (flags.watch === undefined) return output.out(await ask());
  const milliseconds = secondsIn(flags.watch) * 1_000;
  const end = new AbortController();
  const undo = output.terminal?.onInterrupt(() => end.abort());
  try {
    while (!end.signal.aborted) {
      const text = await ask();
      // Home, then the text, then the rest of the old text is erased: nothing flickers.
      if (output.terminal?.clears === true)
        await output.terminal.write(`\u001b[H${text.replaceAll('\n', '\u001b[K\n')}\u001b[K\n\u001b[J`);
      else output.out(`${text}\n`);
      await wait(milliseconds, undefined, { signal: end.signal }).catch(() => undefined);
    }
  } finally {
    undo?.();
  }
}

function secondsIn(given: string | true): number {
  if (given === true) return presetSeconds;
  const seconds = /^[0-9]{1,5}(\.[0-9]+)?$/.test(given) ? Number(given) : NaN;
  if (seconds >= leastSeconds) return seconds;
  throw new CommandError(
    `--watch must be a number of seconds, at least ${leastSeconds}, but is '${given}'`,
    exit.usage,
  );
}

/** Gets the exit code of a command. */
export type Ended = (code: number) => void;

/**
 * Says what commands do. An error of a command is written to standard error.
 * @returns a function whose `work` gets the arguments and may return an exit code; otherwise it is 0
 */
export const acting =
  ({ error }: CommandOutput, ended: Ended) =>
  <Flags>(command: Command, work: (flags: Flags, ...args: never[]) => Promise<number | void> | number): void =>
    void command.action(async () => {
      try {
        ended((await work(command.opts<Flags & object>(), ...(command.processedArgs as never[]))) ?? exit.ok);
      } catch (failure) {
        if (!(failure instanceof CommandError)) throw failure;
        error(shownLines(shownError(failure)));
        ended(failure.code);
      }
    });

/** A command at work that asks a server. */
export interface Call<Flags extends CommonFlags = CommonFlags> {
  readonly api: Api;
  readonly flags: Flags;
  readonly output: CommandOutput;
  /** The virtual host of a command about one queue. */
  readonly vhost: string;
}

/** Says what commands do that ask a server, see {@link acting}. */
export const asking =
  (output: CommandOutput, ended: Ended) =>
  <Flags extends CommonFlags>(
    command: Command,
    work: (call: Call<Flags>, ...args: never[]) => Promise<number | void>,
  ): void =>
    acting(output, ended)(command, (flags: Flags, ...args) =>
      work({ api: apiOf(command.name(), flags, output.env), flags, output, vhost: flags.vhost ?? '/' }, ...args),
    );
