import { writeFileSync } from 'node:fs';
import type { Matcher } from '../../engine/broker/index.js';
import { policyPatterns, shownJson, shownText } from '../../platform/index.js';
import { CtlFailure, type LoginFlags } from '../api.js';
import { apiOf, type CommandOutput } from '../command.js';
import { damageIn, restored } from '../data.js';
import { exit, Refusal } from '../refusal.js';
import { type Conversion, type Definitions, forRabbitMq, isObject } from './for-rabbitmq.js';

export interface DefinitionsFlags extends SourceFlags {
  readonly for: string;
  /** True for all queues, or a pattern of names. */
  readonly quorum?: true | string;
  readonly deliveryLimit?: string;
  readonly withoutUsers?: true;
  readonly output?: string;
}

/**
 * Writes definitions for RabbitMQ to a file or to standard output, and the changes to standard error.
 * @returns the exit code @throws Refusal, StoreError
 */
export async function writeDefinitions(flags: DefinitionsFlags, output: CommandOutput): Promise<number> {
  const conversion = conversionOf(flags);
  try {
    const { definitions, notes } = forRabbitMq(await definitionsOf(flags, output.env), conversion);
    const text = JSON.stringify(definitions, undefined, 2);
    if (flags.output === undefined) output.out(shownJson(text));
    else write(flags.output, text);
    for (const note of notes) output.error(`dlx-broker: ${shownText(note)}`);
    return exit.ok;
  } catch (error) {
    if (!(error instanceof CtlFailure)) throw error;
    output.error(error.message);
    return error.code;
  }
}

/** @throws Refusal */
function conversionOf(flags: DefinitionsFlags): Conversion {
  if (flags.for !== 'rabbitmq') throw new Refusal(`--for must be rabbitmq, but is '${flags.for}'`);
  const { quorum, deliveryLimit: limit, withoutUsers = false } = flags;
  if (quorum === undefined && limit !== undefined)
    throw new Refusal('--delivery-limit is about the queues that --quorum converts, which is not given');
  if (limit !== undefined && !/^[0-9]{1,9}$/.test(limit))
    throw new Refusal(`--delivery-limit must be a whole number, but is '${limit}'`);
  return {
    withoutUsers,
    ...(quorum !== undefined && { isQuorum: quorum === true ? () => true : patternOf(quorum) }),
    ...(limit !== undefined && { deliveryLimit: Number(limit) }),
  };
}

/** @throws Refusal */
function patternOf(pattern: string): (queue: string) => boolean {
  let matcher: Matcher;
  try {
    matcher = policyPatterns.compile(pattern);
  } catch (error) {
    throw new Refusal(`--quorum is no pattern of names: ${(error as Error).message}`);
  }
  return (queue) => matcher.matches(queue);
}

/** Definitions hold the hashes of passwords. @throws Refusal */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
  } catch (error) {
    throw new Refusal(`--output cannot be written: ${(error as Error).message}`);
  }
}

export interface SourceFlags extends LoginFlags {
  readonly data?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The definitions of a running server, asked over HTTP, or of a data directory that no broker uses.
 * @throws CtlFailure of the server; StoreError or Refusal of the directory
 */
export async function definitionsOf(flags: SourceFlags, env: Environment): Promise<Definitions> {
  if (flags.data !== undefined) return definitionsIn(flags.data, flags);
  const api = apiOf('definitions', flags, env);
  const { body } = await api.call('GET', ['definitions'], [200]);
  if (isObject(body)) return body;
  throw new CtlFailure(exit.unavailable, `Error: what is at '${api.address.base}' has no definitions`);
}

async function definitionsIn(directory: string, { url, user, password }: SourceFlags): Promise<Definitions> {
  for (const [name, value] of Object.entries({ url, user, password }))
    if (value !== undefined) throw new Refusal(`--${name} is about a running server, and --data names a directory`);
  if (directory === '') throw new Refusal('--data must name a directory');
  const { exportBroker } = await import('../../server/index.js');
  const { broker, data } = await restored(directory);
  try {
    const [damage] = damageIn(data);
    if (damage !== undefined)
      throw new Refusal(`${shownText(damage)}. Look with 'data check', and start a broker on it first`);
    // The rows are made when they are written.
    return JSON.parse(JSON.stringify(exportBroker(broker))) as Definitions;
  } finally {
    await data.close();
  }
}
