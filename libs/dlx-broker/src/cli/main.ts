import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { CommandOutput } from './command.js';
import type { DefinitionsFlags } from './definitions/index.js';
import type { InitFlags } from './init/index.js';
import { codeOfWrong, logLevels, Refusal, refused, wrongText } from './refusal.js';
import type { Flags } from './settings.js';

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

/** The files of commander are CommonJS: `require` reads them in half the time of an `import`. */
const { Command, CommanderError } = createRequire(import.meta.url)('commander') as typeof import('commander');

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('dlx-broker')
  .description("RabbitMQ's dead-letter exchanges without RabbitMQ.")
  .version(version)
  .enablePositionalOptions()
  .configureOutput({
    outputError: (text, write) => write(wrongText(text, process.argv.slice(2))),
  })
  .exitOverride();

program
  .command('serve')
  .description('Serve AMQP 0-9-1 clients until SIGTERM or SIGINT.')
  .option('--amqp <HOST:PORT>', 'address for clients; port 0 is any free port (default: 127.0.0.1:5672)')
  .option('--http <HOST:PORT>', 'address of the management API (default: none; RabbitMQ uses port 15672)')
  .option('--http-hosts <NAMES>', 'names of this machine in HTTP requests, separated by commas')
  .option('--no-console', 'serve the HTTP API without the console')
  .option('--edits', 'let users with the tag editor or administrator edit messages over HTTP (default: no user may)')
  .option('--metrics <HOST:PORT>', 'address for Prometheus, without a login (default: none; RabbitMQ uses port 15692)')
  .option('--audit <FILE>', 'append the actions of operators over HTTP to this file')
  .option('--definitions <FILE>', 'import users, virtual hosts, policies, exchanges, queues and bindings at the start')
  .option('--data <DIR>', 'keep durable queues in this directory (default: everything is in memory)')
  .option('--durability <HOW>', 'what a confirm waits for: fsync, os or none (default: fsync)')
  .option('--message-memory <BYTES>', 'memory for messages, such as 256MB (default: 64MiB)')
  .option('--disk-free-limit <BYTES>', 'refuse publishes while less disk space is free (default: 50MiB)')
  .option(
    '--memory-limit <LIMIT>',
    'publishers wait while more memory is in use: bytes such as 600MB, or a share such as 0.6 (default: 0.4)',
  )
  .option('--config <FILE>', 'a file in JSON or YAML with the same settings, users and limits')
  .option('--tls-cert <FILE>', 'use TLS with this certificate')
  .option('--tls-key <FILE>', 'the key of the certificate')
  .option('--tls-ca <FILE>', 'accept only clients with a certificate of this authority')
  .option('--rabbitmq <VERSION>', 'version of RabbitMQ to behave like: 3.10 or 4 (default: 3.10)')
  .option(
    '--consumer-timeout <TIME>',
    'how long a client may keep a message unacknowledged, such as 2h, or none (default: 30m)',
  )
  .option(
    '--dead-letter-retry-after <TIME>',
    'when an at-least-once dead letter that did not arrive is published again, such as 5s (default: 3m)',
  )
  .option('--log-level <LEVEL>', `lines on standard error: ${logLevels.join(', ')} (default: info)`)
  .action(serveUntilSignal);

const data = program.command('data').description('Show or change a data directory that no broker uses.');

data
  .command('check')
  .description('Verify every record and count messages: exit code 0, or 1 for damage.')
  .argument('<DIR>', 'the data directory')
  .action(async (directory: string) => {
    const { checkData } = await import('./data.js');
    process.exitCode = await checkData(directory, write);
  });

data
  .command('remove')
  .description('Remove a queue, so that it can be declared anew with other arguments.')
  .argument('<DIR>', 'the data directory')
  .argument('<QUEUE>', 'the name of the queue')
  .option('--vhost <NAME>', 'its virtual host', '/')
  .option('--with-messages', 'also a queue with messages, which are lost')
  .option('--dry-run', 'show the changes without making them')
  .action(async (directory: string, queue: string, flags: { vhost: string; withMessages?: true; dryRun?: true }) => {
    const { editQueue } = await import('./data-edit.js');
    const { vhost, withMessages = false, dryRun = false } = flags;
    process.exitCode = await editQueue(directory, { vhost, queue, withMessages, dryRun }, write);
  });

data
  .command('rename')
  .description('Rename a queue; its messages, bindings and arguments stay.')
  .argument('<DIR>', 'the data directory')
  .argument('<QUEUE>', 'the name of the queue')
  .argument('<NEW>', 'its new name')
  .option('--vhost <NAME>', 'its virtual host', '/')
  .option('--dry-run', 'show the changes without making them')
  .action(async (directory: string, queue: string, to: string, flags: { vhost: string; dryRun?: true }) => {
    const { editQueue } = await import('./data-edit.js');
    const { vhost, dryRun = false } = flags;
    process.exitCode = await editQueue(directory, { vhost, queue, to, dryRun }, write);
  });

data
  .command('export')
  .description('Write every message with its deaths as a line of JSON.')
  .argument('<DIR>', 'the data directory')
  .action(async (directory: string) => {
    const { exportData } = await import('./data.js');
    process.exitCode = await exportData(directory, write, (line) => console.error(`dlx-broker: ${line}`));
  });

/** Writes as fast as the reader reads. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

const standardOutput: CommandOutput = {
  env: process.env,
  out: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
};

program
  .command('init')
  .description('Put the module, a first handler with retries and its test into the Nest application of this folder.')
  .option('--module <FILE>', 'the file with the root module (default: src/app.module.ts)')
  .option('--dry-run', 'show the changes without making them')
  .option('--no-install', 'install no packages')
  .action(async (flags: InitFlags) => {
    const { init } = await import('./init/index.js');
    process.exitCode = init(process.cwd(), flags, version, standardOutput.out);
  });

program
  .command('definitions')
  .description('Write the definitions of a running server or of a data directory for an import into RabbitMQ.')
  .requiredOption('--for <BROKER>', 'the broker that imports them: rabbitmq')
  .option('--data <DIR>', 'read this data directory, which no broker uses')
  .option('--url <URL>', 'the HTTP API (default: DLX_BROKER_URL or http://127.0.0.1:15672)')
  .option('--user <USER>', 'who asks (default: DLX_BROKER_USER)')
  .option('--password <PASSWORD>', 'also as DLX_BROKER_PASSWORD, which no list of processes shows')
  .option('--quorum [PATTERN]', 'make quorum queues of all durable queues, or of those whose names fit')
  .option('--delivery-limit <NUMBER>', 'failed deliveries in those queues before a message dies (default: 20)')
  .option('--without-users', 'leave out users and permissions')
  .option('--output <FILE>', 'write to this file, which only its owner can read')
  .action(async (flags: DefinitionsFlags) => {
    const { writeDefinitions } = await import('./definitions/index.js');
    process.exitCode = await writeDefinitions(flags, standardOutput);
  });

const ended = (code: number): void => void (process.exitCode = code);

// Other commands start faster without the files of these.
const ctl = program
  .command('ctl')
  .description('Policies, users, queues and lists of a running broker, as rabbitmqctl has them.');
if (process.argv[2] === 'ctl') {
  const { addCtl, readInput } = await import('./ctl/index.js');
  addCtl(ctl, { ...standardOutput, stdin: () => readInput(process) }, ended);
}

const deadLetters = program
  .command('dead-letters')
  .description('List, group, show, redrive and export the dead letters of a running broker.');
if (process.argv[2] === 'dead-letters') {
  const [{ addDeadLetters }, { terminalOf }] = await Promise.all([
    import('./dead-letters/index.js'),
    import('./command.js'),
  ]);
  addDeadLetters(deadLetters, { ...standardOutput, terminal: terminalOf(process) }, ended);
}

const queues = program.command('queues').description('Pause and resume a queue of a running broker.');
if (process.argv[2] === 'queues') (await import('./queues.js')).addQueues(queues, standardOutput, ended);

const handlers = program.command('handlers').description('List, pause and resume the handlers of an application.');
if (process.argv[2] === 'handlers') (await import('./handlers.js')).addHandlers(handlers, standardOutput, ended);

async function serveUntilSignal(flags: Flags): Promise<void> {
  const start = new AbortController();
  let stop = (signal: string): void => start.abort(signal);
  // Before the data directory is opened: the first process of a container gets only the signals that it handles.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(signal));
  const [
    { serve },
    { readConfig },
    { settingsOf, portRefusal, definitionsRefusal },
    { bracketed, shownLines, shownText },
    { lostLine },
  ] = await Promise.all([
    import('../server/serve/serve.js'),
    import('./config-file.js'),
    import('./settings.js'),
    import('../platform/index.js'),
    import('../server/serve/open-broker.js'),
  ]);
  const config = flags.config === undefined ? {} : await readConfig(flags.config);
  const { serve: options, logLevel } = settingsOf(flags, config);
  const log = (level: (typeof logLevels)[number], text: string): void => {
    if (logLevels.indexOf(level) <= logLevels.indexOf(logLevel)) console.error(`${level} ${text}`);
  };
  const served = await serve({
    ...options,
    log: (error) => log('error', shownLines(output(error))),
    notice: (text) => log('info', shownText(text)),
    lost: (messages) => log('warn', lostLine(messages, '--data DIR')),
    signal: start.signal,
  }).catch((error: unknown) => {
    if (!start.signal.aborted || error !== start.signal.reason)
      throw portRefusal(error, options) ?? definitionsRefusal(error, flags.definitions ?? config.definitions) ?? error;
    log('info', `${error}: the start is given up`);
    process.exit(0);
  });
  stop = (signal) => {
    log('info', `${signal}: closing ${served.amqp.connections.size} connections`);
    // The log says why not everything could be kept.
    served.close().then(
      () => process.exit(0),
      (error: unknown) => {
        if (!isOfStore(error)) log('error', shownLines(output(error)));
        process.exit(1);
      },
    );
  };
  const shown = ({ host, port }: { readonly host: string; readonly port: number }): string =>
    `${bracketed(host)}:${port}`;
  // The only line on standard output: the parent process may wait for it.
  const http = served.http === undefined ? '' : ` http=${shown(served.http)}`;
  if (served.http?.urls.console !== undefined) log('info', `the console is at ${served.http.urls.console}`);
  if (served.metrics !== undefined) log('info', `metrics are at ${served.metrics.url}`);
  console.log(`dlx-broker ready amqp=${shown(served.amqp)}${http}`);
}

const isOfStore = (error: unknown): error is Error => error instanceof Error && error.name === 'StoreError';

/** An error of the disk is shown without a stack, because its place in this code is of no use to operators. */
const output = (error: unknown): string => (isOfStore(error) ? error.message : String((error as Error).stack ?? error));

/** The error of a failed start in one line. */
function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof Refusal) return message;
  if (code?.startsWith('ERR_OSSL')) return `the certificate and key of TLS cannot be used: ${message}`;
  return message.split('\n')[0] as string;
}

// A broker serves its clients also without a reader of its log.
if (process.argv[2] !== 'serve') endWithReader(process);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) process.exit(0);
    process.exit(codeOfWrong(process.argv.slice(2)));
  }
  const { shownLines } = await import('../platform/index.js');
  console.error(`dlx-broker: ${shownLines(explain(error))}`);
  process.exit(refused);
}
