import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { shownLines } from '../platform/index.js';
import { codeOfWrong, CommandError, exit, shownError, wrongText } from './command-error.js';
import { type CommandOutput, type Ended, processOutput } from './command.js';

/** The exit code that shells show for a program that SIGPIPE has ended: 128 and the number of the signal. */
const endedBySigpipe = 141;

/**
 * Ends this process when the reader of its output has ended, such as `head`: without a message, as SIGPIPE ends other programs.
 * A command that handles interrupts gets one, so that it can finish what it has begun.
 */
function endWithReader(ended: NodeJS.Process): void {
  let isEnding = false;
  const end = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
    if (isEnding) return; // each further write fails as well
    isEnding = true;
    // Set at the end, because the command sets the code of its work before.
    ended.once('exit', () => void (ended.exitCode = endedBySigpipe));
    if (!ended.emit('SIGINT', 'SIGINT')) ended.exit();
  };
  ended.stdout.on('error', end);
  ended.stderr.on('error', end);
}

// The constant of the engine would load the engine.
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

const words = process.argv.slice(2);
const program = new Command('dlx-broker')
  .description("RabbitMQ's dead-letter exchanges without RabbitMQ.")
  .version(version)
  .enablePositionalOptions()
  .configureOutput({ outputError: (text, write) => write(wrongText(text, words)) })
  .exitOverride();

/** Adds what a command takes, or its own commands. */
type Add = (command: Command, output: CommandOutput, ended: Ended) => void;

const commands: readonly (readonly [name: string, load: () => Promise<Add>, about: string])[] = [
  [
    'serve',
    async () => (await import('./serve/index.js')).addServe,
    'Serve AMQP 0-9-1 clients until SIGTERM or SIGINT.',
  ],
  [
    'data',
    async () => (await import('./data-edit.js')).addData,
    'Show or change a data directory that no broker uses.',
  ],
  [
    'init',
    async () => (await import('./init/index.js')).addInit(version),
    'Put the module, a first handler with retries and its test into the Nest application of this folder.',
  ],
  [
    'definitions',
    async () => (await import('./definitions/index.js')).addDefinitions,
    'Write the definitions of a running server or of a data directory for an import into RabbitMQ.',
  ],
  [
    'ctl',
    async () => (await import('./ctl/index.js')).addCtl,
    'Policies, users, queues and lists of a running broker, as rabbitmqctl has them.',
  ],
  [
    'dead-letters',
    async () => (await import('./dead-letters/index.js')).addDeadLetters,
    'List, group, show, redrive and export the dead letters of a running broker.',
  ],
  ['queues', async () => (await import('./queues.js')).addQueues, 'Pause and resume a queue of a running broker.'],
  [
    'handlers',
    async () => (await import('./handlers.js')).addHandlers,
    'List, pause and resume the handlers of an application.',
  ],
];

async function run(): Promise<void> {
  // A command starts faster without the files of the others.
  const named = commands.filter(([name]) => words.includes(name));
  for (const row of commands) {
    const [name, load, about] = row;
    const command = program.command(name).description(about);
    if (named.length === 0 || named.includes(row))
      (await load())(command, processOutput, (code) => void (process.exitCode = code));
  }
  await program.parseAsync();
}

// A broker serves its clients also without a reader of its log.
if (words[0] !== 'serve') endWithReader(process);

run().catch((error: unknown) => {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : codeOfWrong(words));
  console.error(shownLines(shownError(error)));
  process.exit(error instanceof CommandError ? error.code : exit.refused);
});
