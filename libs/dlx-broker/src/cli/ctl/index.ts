import { shownLines } from '../../host/index.js';
import { addressOf } from './address.js';
import { Api } from './api.js';
import { type Answer, type Command, type Input } from './command.js';
import { type CommandLine, parseCommandLine } from './command-line.js';
import { commands, elsewhere } from './commands.js';
import { BadArguments, CtlFailure, exit, failureInJson } from './exit.js';
import { type Formatter, type FormatterName, formatters, written } from './format/index.js';
import { commandList, helpFor, overview, usageOf, withoutBroker } from './help.js';
import { suggestionFor } from './suggestion.js';

export { readInput } from './password.js';

/** The environment, input and output of a command: those of the process, or of a test. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  out(text: string): void;
  error(text: string): void;
  /** All of standard input. */
  stdin(): Promise<string>;
}

/** Runs one command of rabbitmqctl over a management API. @returns the code to exit with */
export async function runCtl(words: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await run(words, context);
  } catch (error) {
    if (!(error instanceof CtlFailure)) throw error;
    context.error(error.message);
    return error.code;
  }
}

async function run(words: readonly string[], context: CommandContext): Promise<number> {
  const { out, error } = context;
  const [name, ...named] = parseCommandLine(words).args;
  const wantsHelp = parseCommandLine(words).options.get('help') === true;
  if (name === undefined) return wantsHelp ? (out(overview()), exit.ok) : (error(overview()), exit.usage);
  if (name === 'help') return help(named, words, context);
  if (name === 'version') return (out(context.version), exit.ok);
  const command = commandCalled(name);
  if (command === undefined) throw unknown(name, named[0]);
  if (wantsHelp) return (out(helpFor(command)), exit.ok);
  const line = parseCommandLine(words, command);
  try {
    const { formatter, input } = inputOf(command, line, context);
    return await answer(command, input, formatter, line, context);
  } catch (failure) {
    if (!(failure instanceof BadArguments)) throw failure;
    const text = `Error (argument validation): ${failure.message}\nArguments given:\n\t${line.shown}`;
    throw new CtlFailure(failure.code, text, `\n\n${usageOf(command)}`);
  }
}

async function answer(
  command: Command,
  input: Input,
  formatter: FormatterName,
  { options }: CommandLine,
  { env, out }: CommandContext,
): Promise<number> {
  const address = addressOf(options, env);
  const banner = command.banner?.(input) ?? '';
  if (banner !== '') input.note(banner);
  const api = new Api(address, input.timeout, command.name);
  const given = await asked(command, input, api, formatter);
  const headers = options.get('silent') !== true && options.get('no-table-headers') !== true;
  const text = written(given, { formatter, quiet: input.quiet, headers, node: address.base });
  if (text !== undefined) out(text);
  return exit.ok;
}

async function asked(command: Command, input: Input, api: Api, formatter: FormatterName): Promise<Answer> {
  try {
    return await command.run(input, api);
  } catch (failure) {
    if (formatter === 'json' && failure instanceof CtlFailure) throw failureInJson(failure, api.address.base);
    throw failure;
  }
}

/** @throws CtlFailure for arguments or options that the command does not accept */
function inputOf(
  command: Command,
  line: CommandLine,
  { out, stdin }: CommandContext,
): { readonly formatter: FormatterName; readonly input: Input } {
  const { options, invalid } = line;
  const formatter = formatterOf(options.get('formatter'));
  const unfit: (readonly [string, string])[] = [...invalid];
  const format: Formatter = formatters[formatter];
  const seconds = options.get('timeout');
  if (options.has('no-table-headers') && !format.hasHeaders) unfit.push(['--no-table-headers', '']);
  if (Number(seconds) < 0) unfit.push(['--timeout', String(seconds)]);
  if (unfit.length > 0) {
    const list = unfit.map(([name, value]) => `${name} : ${value}`).join('\n');
    throw new BadArguments(exit.usage, `Invalid options for this command:\n${list}`);
  }
  if (options.has('node') || options.has('longnames'))
    throw new CtlFailure(exit.usage, 'Error: there are no Erlang nodes here: use --url instead of --node');
  const [, ...args] = line.args;
  const [least, most] = command.takes;
  if (args.length < least) throw new BadArguments(exit.usage, 'not enough arguments.');
  if (args.length > most) throw new BadArguments(exit.usage, 'too many arguments.');
  const quiet = options.get('quiet') === true || options.get('silent') === true || !format.hasNotes;
  const input: Input = {
    args,
    options,
    vhost: String(options.get('vhost') ?? '/'),
    timeout: seconds === undefined ? command.timeout : Number(seconds) * 1000,
    quiet,
    stdin,
    note: (text) => void (quiet || out(shownLines(text))),
  };
  command.check?.(input);
  return { formatter, input };
}

function formatterOf(asked: unknown = 'table'): FormatterName {
  if (Object.hasOwn(formatters, String(asked))) return asked as FormatterName;
  const known = Object.keys(formatters).join(', ');
  const why = asked === 'erlang' ? 'terms of Erlang are not written here' : 'it is not known';
  throw new CtlFailure(exit.usage, `Error: --formatter ${String(asked)}: ${why} (known: ${known})`);
}

const commandCalled = (name: string): Command | undefined => commands.find((command) => command.name === name);

/** @param next the word behind it: `ctl queues list` means `list_queues` */
function unknown(name: string, next = ''): CtlFailure {
  if (elsewhere.includes(name))
    return new CtlFailure(
      exit.usage,
      `Error: command '${name}' of rabbitmqctl is about Erlang nodes and their cluster, or has no HTTP API`,
    );
  const known = [...commands, ...withoutBroker].map((command) => command.name).toSorted();
  const joined = [`${name}_${next}`, `${next}_${name}`].find((words) => known.includes(words));
  const suggestion = joined ?? suggestionFor(name, known);
  const found = `\nCommand '${name}' not found. \n`;
  return new CtlFailure(exit.usage, found, suggestion === undefined ? overview() : `Did you mean '${suggestion}'? \n`);
}

function help(named: readonly string[], words: readonly string[], { out }: CommandContext): number {
  if (words.includes('--list-commands')) return (out(`\n${commandList()}`), exit.ok);
  const [name] = named;
  if (name === undefined) return (out(overview()), exit.ok);
  const command = commandCalled(name);
  if (command === undefined) throw new CtlFailure(exit.usage, 'Error:\n', unknown(name).message);
  return (out(helpFor(command)), exit.ok);
}
