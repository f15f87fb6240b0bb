import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { shownJson } from '../../platform/index.js';
import type { Api } from '../api.js';
import { CommandError, exit } from '../command-error.js';
import { ask, type Call, type CommonFlags, noneOf, shownQueue, writing } from '../command.js';
import { Lines } from '../text.js';
import { type FilterFlags, filterOf, refuseBoth } from './filter.js';

export interface ExportFlags extends CommonFlags, FilterFlags {
  readonly limit?: string;
  readonly output?: string;
}

/** Writes messages as lines of JSON, as fast as the reader of the lines reads. Nothing is taken out of the queue. */
export async function exportLetters(
  { api, flags, vhost, output: to }: Call<ExportFlags>,
  queue: string,
  ids: readonly string[],
): Promise<void> {
  refuseBoth(ids, flags);
  const { limit, output } = flags;
  const query = {
    ...filterOf(flags).query,
    ...(ids.length > 0 && { ids: ids.join(',') }),
    ...(limit !== undefined && { limit }),
  };
  const path = ['dlx', 'queues', vhost, queue, 'export'];
  const lines = new Lines();
  const write = writing(to);
  let file: FileHandle | undefined;
  try {
    await ask(api, 'GET', path, shownQueue(queue, vhost), {
      query,
      receive: async (part) => {
        const text = shownJson(lines.add(part));
        if (text === '') return;
        // Opened at the first line: a refused export leaves no file.
        if (output !== undefined) await (file ??= await opened(output)).appendFile(text);
        else await write(text);
      },
    });
    if (ids.length > 0 && lines.count === 0) throw noneOf(ids, queue, vhost);
    if (output !== undefined) file ??= await opened(output); // no message, and so an empty file
  } finally {
    await file?.close();
  }
  if (output !== undefined) to.error(`${lines.count} messages written to ${output}`);
}

/** Messages may be secret. @throws CommandError */
const opened = (path: string): Promise<FileHandle> =>
  open(path, 'w', 0o600).catch((fault: Error) => {
    throw new CommandError(`--output cannot be written: ${fault.message}`, exit.data);
  });

export interface DeleteFlags extends CommonFlags, FilterFlags {
  readonly exported?: string;
  readonly dryRun?: true;
}

/** The messages of one request. The server takes 1,000 at most. */
const mostAtOnce = 500;

/** Deletes the messages of a queue that a file of `dead-letters export` holds. A message that differs from the file stays. */
export async function deleteLetters({ api, flags, output, vhost }: Call<DeleteFlags>, queue: string): Promise<void> {
  const { exported, dryRun } = flags;
  if (exported === undefined) {
    const remedy = "write them with 'dlx-broker dead-letters export QUEUE --output FILE' first";
    throw new CommandError(`--exported FILE is missing: only exported messages are deleted; ${remedy}`, exit.usage);
  }
  const { query } = filterOf(flags);
  const deletion = new Deletion(await readExported(exported), api, [vhost, queue], dryRun === true);
  try {
    await deletion.run(query);
  } catch (error) {
    if (deletion.deleted > 0) output.error(`${deletion.deleted} ${dryRun ? 'would be ' : ''}deleted before the error`);
    throw error;
  }
  const { deleted, unknown, changed, gone } = deletion;
  if (flags.json === true) {
    const counts = { dry_run: dryRun === true, deleted, not_in_file: unknown, changed, gone };
    return output.out(shownJson(JSON.stringify(counts)));
  }
  const others =
    Object.keys(query).length > 0 ? ', with a consumer, or not selected by the filter' : ' or with a consumer';
  const counts = [
    `${deleted} ${dryRun ? 'would be ' : ''}deleted`,
    `${unknown} not in the file`,
    ...(changed > 0 ? [`${changed} not as in the file`] : []),
    ...(gone > 0 ? [`${gone} of the file gone already${others}`] : []),
  ];
  output.out(counts.join(', '));
}

/** One run over a queue. Each line of a new export is compared with the file, and the same messages are deleted by their ids. */
class Deletion {
  deleted = 0;
  /** Messages of the queue that are not in the file. */
  unknown = 0;
  /** Messages whose id is in the file, but with another content or without a body. */
  changed = 0;
  /** Messages of the file that were not found. */
  gone = 0;
  readonly #path: readonly string[];
  readonly #missing: string;
  #same: string[] = [];

  constructor(
    private readonly sums: ExportedSums,
    private readonly api: Api,
    [vhost, queue]: readonly [string, string],
    private readonly isDry: boolean,
  ) {
    this.#path = ['dlx', 'queues', vhost, queue];
    this.#missing = shownQueue(queue, vhost);
  }

  async run(query: Readonly<Record<string, string | readonly string[]>>): Promise<void> {
    // No message has the id 0. The answer says which declaration of the queue it is: a queue declared anew begins with the same ids.
    const { instance } = await this.#ask('0', true);
    const lines = new Lines();
    let found = 0;
    await ask(this.api, 'GET', [...this.#path, 'export'], this.#missing, {
      query,
      receive: async (part) => {
        const complete = lines.add(part);
        if (complete === '') return;
        for (const line of complete.slice(0, -1).split('\n')) {
          if (this.#compare(line)) found++;
          if (this.#same.length === mostAtOnce) await this.#delete(instance);
        }
      },
    });
    await this.#delete(instance);
    this.gone += this.sums.size - found;
  }

  /** @returns true if the file has a message of this id */
  #compare(line: string): boolean {
    const message = objectIn(line) ?? {};
    const id = String(message['id']);
    const sum = this.sums.get(id);
    const body = bodyOf(message);
    if (sum === undefined) this.unknown++;
    else if (body === undefined || sumOf(message, body) !== sum) this.changed++;
    else this.#same.push(id);
    return sum !== undefined;
  }

  async #delete(instance: string): Promise<void> {
    const ids = this.#same;
    this.#same = [];
    if (ids.length === 0) return;
    const { matched, discarded, gone } = await this.#ask(ids.join(','), this.isDry, instance);
    this.deleted += this.isDry ? matched : discarded;
    this.gone += gone;
  }

  async #ask(ids: string, dryRun: boolean, instance?: string): Promise<Answer> {
    const query = { ids, dry_run: String(dryRun), ...(instance !== undefined && { instance }) };
    return (await ask(this.api, 'DELETE', [...this.#path, 'messages'], this.#missing, { query })).body as Answer;
  }
}

interface Answer {
  readonly instance: string;
  readonly matched: number;
  readonly discarded: number;
  readonly gone: number;
}

/** The sum of each message of an export by its id. A message without its body has an empty sum, which none equals. */
type ExportedSums = ReadonlyMap<string, string>;

/**
 * Reads a file that `dead-letters export` wrote. Only sums stay in memory.
 * @throws CommandError with the number of the first line that is not as an export writes it
 */
async function readExported(path: string): Promise<ExportedSums> {
  const sums = new Map<string, string>();
  const lines = new Lines();
  let number = 0;
  const refuse = (why: string): CommandError =>
    new CommandError(`--exported '${path}', line ${number}: ${why}; nothing was deleted`, exit.data);
  const add = (line: string): void => {
    number++;
    const message = objectIn(line);
    const id = message?.['id'];
    if (message === undefined || typeof id !== 'string' || !/^\d{1,16}$/.test(id))
      throw refuse("is no line of 'dead-letters export'");
    const sum = sumIn(message);
    if (sum === undefined) throw refuse('has not the whole body of its message, so a part of the line is lost');
    if ((sums.get(id) ?? sum) !== sum) throw refuse(`has message ${id} again with another content; give one export`);
    sums.set(id, sum);
  };
  try {
    for await (const part of createReadStream(path)) {
      const complete = lines.add(part as Buffer);
      if (complete !== '') for (const line of complete.slice(0, -1).split('\n')) add(line);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`--exported cannot be read: ${(error as Error).message}`, exit.data);
  }
  number++;
  if (lines.rest !== '') throw refuse('has no end, so the export broke off');
  return sums;
}

/** Undefined if the text is no JSON object. */
function objectIn(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Empty if the broker could not read the body; undefined if the line lost a part of it. */
function sumIn(message: JsonObject): string | undefined {
  if (message['payload'] === null && 'payload_error' in message) return '';
  const body = bodyOf(message);
  return body === undefined ? undefined : sumOf(message, body);
}

/** A message as a line of an export shows it. */
type JsonObject = Readonly<Record<string, unknown>>;

/** What stays the same while a message lies in its queue. The counts of its deliveries and its expiry may change. */
const fixed = ['id', 'exchange', 'routing_key', 'first_death', 'deaths', 'properties', 'headers'] as const;

/**
 * The sum of an exported message: its id, its addresses, deaths, properties, headers and bytes. Messages with one sum are the same.
 * @param body the decoded body
 */
const sumOf = (message: JsonObject, body: Buffer): string =>
  createHash('sha256')
    .update(JSON.stringify(fixed.map((name) => message[name] ?? null)))
    .update(body)
    .digest()
    .toString('latin1', 0, 16);

/** The body of an exported message; undefined if the line has no body, or not all of it. */
function bodyOf({ payload, payload_encoding: encoding, payload_bytes: bytes }: JsonObject): Buffer | undefined {
  if (typeof payload !== 'string') return undefined;
  const body = Buffer.from(payload, encoding === 'base64' ? 'base64' : 'utf8');
  return body.length === bytes ? body : undefined;
}
