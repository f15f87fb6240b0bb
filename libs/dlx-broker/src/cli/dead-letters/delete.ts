import { shownJson } from '../../platform/index.js';
import type { Api } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { ask, type CommandOutput, type CommonFlags, shownQueue, vhostOf } from './ask.js';
import { type ExportedSums, objectIn, readExported } from './exported-file.js';
import { filterOf, type FilterFlags } from './filter.js';
import { bodyOf, sumOf } from './identity.js';
import { Lines } from './lines.js';

export interface DeleteFlags extends CommonFlags, FilterFlags {
  readonly exported?: string;
  readonly dryRun?: true;
}

/** The messages of one request. The server takes 1,000 at most. */
const mostAtOnce = 500;

/** Deletes the messages of a queue that a file of `dead-letters export` holds. A message that differs from the file stays. */
export async function deleteLetters(queue: string, flags: DeleteFlags, api: Api, output: CommandOutput): Promise<void> {
  const { exported, dryRun } = flags;
  if (exported === undefined) {
    const remedy = "write them with 'dlx-broker dead-letters export QUEUE --output FILE' first";
    throw new CtlFailure(
      exit.usage,
      `Error: --exported FILE is missing: only exported messages are deleted; ${remedy}`,
    );
  }
  const { query } = filterOf(flags);
  const deletion = new Deletion(await readExported(exported), api, queue, flags);
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
    queue: string,
    private readonly flags: DeleteFlags,
  ) {
    this.#path = ['dlx', 'queues', vhostOf(flags), queue];
    this.#missing = shownQueue(queue, vhostOf(flags));
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
    const { matched, discarded, gone } = await this.#ask(ids.join(','), this.flags.dryRun === true, instance);
    this.deleted += this.flags.dryRun === true ? matched : discarded;
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
