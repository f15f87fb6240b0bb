import { createRequire } from 'node:module';
import type * as commander from 'commander';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { blocksOf, checkedPages, placeOf } from './blocks.js';
import { read } from './pages.js';
import { commandsOf } from './shell.js';

const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };

/** The one that the command line uses. */
const { Command } = createRequire(new URL('../../libs/dlx-broker/package.json', import.meta.url))(
  'commander',
) as typeof commander;

let program: commander.Command;
beforeAll(async () => {
  // The command line makes its program and parses the words of this process. Only its program is wanted, with all commands.
  const { argv } = process;
  process.argv = ['node', 'dlx-broker'];
  const made = new Promise<commander.Command>((resolve) => {
    vi.spyOn(Command.prototype, 'parseAsync').mockImplementation(function (this: commander.Command) {
      resolve(this);
      return Promise.resolve(this);
    });
  });
  await import('../../libs/dlx-broker/src/cli/main.js');
  program = await made;
  vi.restoreAllMocks();
  process.argv = argv;
});

const isPlaceholder = (word: string): boolean => /^\[?[A-Z]+/.test(word);

/** What is wrong with the words behind `dlx-broker`. @param isWhole whether all arguments have to be there */
function faultOf(words: readonly string[], isWhole: boolean): string | undefined {
  let command = program;
  let rest = [...words];
  while (command.commands.length > 0) {
    const [name = ''] = rest;
    if (name === '' || name === 'help' || (!isWhole && isPlaceholder(name))) return undefined;
    if (name.startsWith('-')) break;
    const next = command.commands.find((one) => one.name() === name);
    if (next === undefined) return `${command.name()} has no command ${name}`;
    [command, rest] = [next, rest.slice(1)];
  }
  command.configureOutput({ outputError: () => undefined });
  let parsed: ReturnType<commander.Command['parseOptions']>;
  try {
    parsed = command.parseOptions(rest);
  } catch (error) {
    // A sentence may name an option without its value.
    return isWhole ? (error as Error).message : undefined;
  }
  const { operands, unknown } = parsed;
  const strange = unknown.filter((word) => word.startsWith('-') && word !== '--help');
  if (strange.length > 0) return `${command.name()} has no option ${strange.join(' ')}`;
  const expected = command.registeredArguments;
  const least = expected.filter(({ required }) => required).length;
  const most = expected.some(({ variadic }) => variadic) ? Infinity : expected.length;
  if (isWhole && (operands.length < least || operands.length > most)) return `${command.name()} takes other arguments`;
  return undefined;
}

/** What is wrong with a command, if it is one of the package or of the repository. */
function faultOfCommand([name = '', ...rest]: readonly string[], isWhole: boolean): string | undefined {
  if (name === 'dlx-broker' || name === 'node_modules/.bin/dlx-broker') return faultOf(rest, isWhole);
  const script =
    name !== 'npm'
      ? undefined
      : rest[0] === 'run'
        ? rest[1]
        : /^(start|test)$/.test(rest[0] ?? '')
          ? rest[0]
          : undefined;
  return script === undefined || script in scripts || rest.includes('--workspace') ? undefined : `no script ${script}`;
}

describe('command lines', () => {
  it.each([
    ['ctl set_polici a b c', 'ctl has no command set_polici'],
    ['ctl delete_queue orders --if-full', 'delete_queue has no option --if-full'],
    ['data rename ./data orders', 'rename takes other arguments'],
    ['serve --htpp 127.0.0.1:1', 'serve has no option --htpp'],
    ['dead-letters lst', 'dead-letters has no command lst'],
  ])('a mistake is found: %s', (line, fault) => {
    expect(faultOf(line.split(' '), true)).toContain(fault);
  });

  it.each(checkedPages)('%s', (page) => {
    const faults = blocksOf(page)
      .filter(({ language }) => ['sh', 'console', 'dockerfile'].includes(language))
      .flatMap((block) => {
        const text = block.language === 'dockerfile' ? commandsOfImage(block.text) : block.text;
        return commandsOf(text, block.language === 'console').map((words) => [
          placeOf(block),
          faultOfCommand(words, true),
        ]);
      })
      .filter(([, fault]) => fault !== undefined);
    expect(faults).toEqual([]);
  });

  it.each(checkedPages)('%s, in sentences and tables', (page) => {
    const spans = [
      ...read(page)
        .replace(/^```[^]*?^```/gm, '')
        .matchAll(/`((?:npx )?dlx-broker (?!ready |\d)[^`]+)`/g),
    ];
    const faults = spans
      .flatMap(([, span]) =>
        commandsOf(span!.replaceAll('\\|', '|'), false).map((words) => [span, faultOfCommand(words, false)]),
      )
      .filter(([, fault]) => fault !== undefined);
    expect(faults).toEqual([]);
  });
});

/** The `CMD` and `RUN` of an image, as lines of a shell. */
const commandsOfImage = (text: string): string =>
  [...text.matchAll(/^(?:CMD (\[.*\])|RUN (.*))$/gm)]
    .map(([, list, line]) =>
      list === undefined ? line : (JSON.parse(list) as string[]).map((word) => `'${word}'`).join(' '),
    )
    .join('\n');
