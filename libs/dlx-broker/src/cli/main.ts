import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { serve } from '../serve.js';
import { readConfig } from './config-file.js';
import { Refusal } from './refusal.js';
import { type Flags, settingsOf } from './settings.js';
import { logLevels } from './values.js';

/** What was asked for cannot be had. */
const refused = 2;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('dlx-broker')
  .description("RabbitMQ's dead-letter exchanges without RabbitMQ.")
  .version(version)
  .exitOverride();

program
  .command('serve')
  .description('Serve AMQP 0-9-1 clients until told to stop by SIGTERM or SIGINT.')
  .option('--amqp <HOST:PORT>', 'where clients connect; port 0 is any that is free (default: 127.0.0.1:5672)')
  .option('--http <HOST:PORT>', 'where the management API is (not available yet)')
  .option('--data <DIR>', 'where durable queues are kept (not available yet)')
  .option('--config <FILE>', 'a file in JSON or YAML with the same settings, users and limits')
  .option('--tls-cert <FILE>', 'speak TLS, with this certificate')
  .option('--tls-key <FILE>', 'the key of the certificate')
  .option('--tls-ca <FILE>', 'let in only clients with a certificate of this authority')
  .option('--rabbitmq <VERSION>', 'which RabbitMQ to behave like: 3.10 or 4 (default: 3.10)')
  .option('--log-level <LEVEL>', `how much to tell on standard error: ${logLevels.join(', ')} (default: info)`)
  .action(serveUntilTold);

async function serveUntilTold(flags: Flags): Promise<void> {
  const config = flags.config === undefined ? {} : await readConfig(flags.config);
  const { serve: options, logLevel } = settingsOf(flags, config);
  const log = (level: (typeof logLevels)[number], text: string): void => {
    if (logLevels.indexOf(level) <= logLevels.indexOf(logLevel)) console.error(`${level} ${text}`);
  };
  const served = await serve({
    ...options,
    log: (error) => log('error', String((error as Error).stack ?? error)),
    notice: (text) => log('info', text),
  });
  const { host, port } = served.amqp;
  const stop = (signal: string): void => {
    log('info', `${signal}: closing ${served.amqp.connections.size} connections`);
    void served.close().then(() => process.exit(0));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
  // The one line on standard output: whoever started it waits for it.
  console.log(`dlx-broker ready amqp=${host.includes(':') ? `[${host}]` : host}:${port}`);
}

/** One line for whatever went wrong before the start. */
function explain(error: unknown): string {
  const { code, address, port, message } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (error instanceof Refusal) return message;
  if (code === 'EADDRINUSE') return `the port ${address}:${port} is taken`;
  if (code === 'EACCES') return `the port ${address}:${port} is not allowed`;
  return message.split('\n')[0] as string;
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : refused);
  console.error(`dlx-broker: ${explain(error)}`);
  process.exit(refused);
}
