import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Matcher } from '../../engine/broker/index.js';
import { policyPatterns, shownJson, shownText } from '../../platform/index.js';
import type { LoginFlags } from '../api.js';
import { CommandError, exit } from '../command-error.js';
import { acting, apiOf, type CommandOutput, type Ended, withLogin } from '../command.js';
import { damageIn, restored } from '../data.js';
import { type Conversion, type Definitions, forRabbitMq, isObject } from './for-rabbitmq.js';

export interface DefinitionsFlags extends SourceFlags {
  readonly for: string;
  /** True for all queues, or a pattern of names. */
  readonly quorum?: true | string;
  readonly deliveryLimit?: string;
  readonly withoutUsers?: true;
  readonly output?: string;
}

/** Adds the options of `definitions` to its command. */
export function addDefinitions(command: Command, output: CommandOutput, ended: Ended): void {
  withLogin(
    command
      .requiredOption('--for <BROKER>', 'the broker that imports them: rabbitmq')
      .option('--data <DIR>', 'read this data directory, which no broker uses'),
  )
    .option('--quorum [PATTERN]', 'make quorum queues of all durable queues, or of those whose names fit')
    .option('--delivery-limit <NUMBER>', 'failed deliveries in those queues before a message dies (default: 20)')
    .option('--without-users', 'leave out users and permissions')
    .option('--output <FILE>', 'write to this file, which only its owner can read');
  acting(output, ended)(command, (flags: DefinitionsFlags) => writeDefinitions(flags, output));
}

/** Writes definitions for RabbitMQ to a file or to standard output, and the changes to standard error. @throws CommandError, StoreError */
export async function writeDefinitions(flags: DefinitionsFlags, { env, out, error }: CommandOutput): Promise<void> {
  const conversion = conversionOf(flags);
  const { definitions, notes } = forRabbitMq(await definitionsOf(flags, env), conversion);
  const text = JSON.stringify(definitions, undefined, 2);
  if (flags.output === undefined) out(shownJson(text));
  else write(flags.output, text);
  for (const note of notes) error(`dlx-broker: ${shownText(note)}`);
}

/** @throws CommandError */
function conversionOf(flags: DefinitionsFlags): Conversion {
  if (flags.for !== 'rabbitmq') throw new CommandError(`--for must be rabbitmq, but is '${flags.for}'`);
  const { quorum, deliveryLimit: limit, withoutUsers = false } = flags;
  if (quorum === undefined && limit !== undefined)
    throw new CommandError('--delivery-limit is about the queues that --quorum converts, which is not given');
  if (limit !== undefined && !/^[0-9]{1,9}$/.test(limit))
    throw new CommandError(`--delivery-limit must be a whole number, but is '${limit}'`);
  return {
    withoutUsers,
    ...(quorum !== undefined && { isQuorum: quorum === true ? () => true : patternOf(quorum) }),
    ...(limit !== undefined && { deliveryLimit: Number(limit) }),
  };
}

/** @throws CommandError */
function patternOf(pattern: string): (queue: string) => boolean {
  let matcher: Matcher;
  try {
    matcher = policyPatterns.compile(pattern);
  } catch (error) {
    throw new CommandError(`--quorum is no pattern of names: ${(error as Error).message}`);
  }
  return (queue) => matcher.matches(queue);
}

/** Definitions hold the hashes of passwords. @throws CommandError */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
  } catch (error) {
    throw new CommandError(`--output cannot be written: ${(error as Error).message}`);
  }
}

export interface SourceFlags extends LoginFlags {
  readonly data?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The definitions of a running server, asked over HTTP, or of a data directory that no broker uses.
 * @throws CommandError of the server; StoreError or CommandError of the directory
 */
async function definitionsOf(flags: SourceFlags, env: Environment): Promise<Definitions> {
  if (flags.data !== undefined) return definitionsIn(flags.data, flags);
  const api = apiOf('definitions', flags, env);
  const { body } = await api.call('GET', ['definitions'], [200]);
  if (isObject(body)) return body;
  throw new CommandError(`what is at '${api.address.base}' has no definitions`, exit.unavailable);
}

async function definitionsIn(directory: string, { url, user, password }: SourceFlags): Promise<Definitions> {
  for (const [name, value] of Object.entries({ url, user, password }))
    if (value !== undefined)
      throw new CommandError(`--${name} is about a running server, and --data names a directory`);
  if (directory === '') throw new CommandError('--data must name a directory');
  const { exportBroker } = await import('../../server/index.js');
  const { broker, data } = await restored(directory);
  try {
    const [damage] = damageIn(data);
    if (damage !== undefined)
      throw new CommandError(`${shownText(damage)}. Look with 'data check', and start a broker on it first`);
    // The rows are made when they are written.
    return JSON.parse(JSON.stringify(exportBroker(broker))) as Definitions;
  } finally {
    await data.close();
  }
}
