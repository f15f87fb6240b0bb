import { shownJson } from '../../platform/index.js';
import type { Api, Reply } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { askOfQueue } from './ask-of-queue.js';
import { ask, placeOfIds, shownQueue, vhostOf, type CommandOutput, type CommonFlags } from './ask.js';
import { prettyColumns } from './columns.js';
import { filterOf, type FilterFlags } from './filter.js';
import { lettersText, letterText } from './letters.js';
import { queuesText, vhostColumn } from './queues.js';
import { duration, oneLine, when } from './shown.js';
import { watching, type WatchFlags } from './watch.js';

export interface ListFlags extends CommonFlags, FilterFlags, WatchFlags {
  readonly by?: string;
  readonly limit?: string;
}

/** The dead letters of a queue, or how many there are of each kind; without a queue the dead-letter queues. */
export function list(queue: string | undefined, flags: ListFlags, api: Api, output: CommandOutput): Promise<void> {
  const asked = queue === undefined ? () => askQueues(flags, api) : () => askQueue(queue, flags, api);
  const shown = queue === undefined ? queuesText : flags.by === undefined ? lettersText : groupsText;
  return watching(flags, async () => textOf(await asked(), flags, shown), output);
}

/** The groups over all dead-letter queues, or over one. */
export function groups(queue: string | undefined, flags: ListFlags, api: Api, output: CommandOutput): Promise<void> {
  const { diedIn, ...others } = flags;
  const query = {
    ...filterOf(others).query,
    ...(diedIn !== undefined && { died_in: diedIn }),
    ...(flags.vhost !== undefined && { vhost: flags.vhost }),
    ...(queue !== undefined && { queue, vhost: vhostOf(flags) }),
  };
  const missing = queue === undefined ? vhostIn(flags) : shownQueue(queue, vhostOf(flags));
  const asked = async (): Promise<Reply> => {
    const reply = await ask(api, 'GET', ['dlx', 'groups'], missing, { query });
    // The server leaves out what does not exist. A queue that exists was searched or skipped.
    const { queues, skipped } = reply.body as { readonly queues: number; readonly skipped: readonly unknown[] };
    if (queue === undefined || queues > 0 || skipped.length > 0) return reply;
    throw new CtlFailure(exit.data, `Error: there is no ${missing}`);
  };
  return watching(flags, async () => textOf(await asked(), flags, (body) => allGroupsText(body, Date.now())), output);
}

/** One message: where it died, why, its headers and its body. */
export async function show(
  queue: string,
  id: string,
  flags: CommonFlags,
  api: Api,
  { out }: CommandOutput,
): Promise<void> {
  out(textOf(await askMessage(queue, id, flags, api), flags, letterText));
}

/** @throws CtlFailure that names the queue if it does not exist, else the message */
export async function askMessage(queue: string, id: string, flags: CommonFlags, api: Api): Promise<Reply> {
  const vhost = vhostOf(flags);
  const missing = `message ${id} ${placeOfIds(queue, vhost)}`;
  try {
    return await ask(api, 'GET', ['dlx', 'queues', vhost, queue, 'messages', id], missing);
  } catch (error) {
    // The server answers 404 to both.
    if (error instanceof CtlFailure && error.code === exit.data) await askOfQueue(api, 'GET', [vhost, queue]);
    throw error;
  }
}

const textOf = ({ body, text }: Reply, { json }: CommonFlags, shown: (body: unknown) => string): string =>
  json === true ? shownJson(text) : shown(body);

function askQueue(queue: string, flags: ListFlags, api: Api): Promise<Reply> {
  const { by, limit = '50' } = flags;
  const query = { ...filterOf(flags).query, ...(by === undefined ? { page_size: limit } : { by }) };
  return askOfQueue(api, 'GET', [vhostOf(flags), queue, by === undefined ? 'messages' : 'groups'], { query });
}

/** The fullest queues first. */
function askQueues(flags: ListFlags, api: Api): Promise<Reply> {
  const { by, limit = '500', vhost } = flags;
  if (by !== undefined || Object.keys(filterOf(flags).query).length > 0)
    throw new CtlFailure(exit.usage, "Error: filters and --by need a queue; 'dlx-broker dead-letters groups' has all");
  const order = { dead: 'true', sort: 'messages_ready', sort_reverse: 'true', page_size: limit };
  const query = vhost === undefined ? order : { ...order, vhost };
  return ask(api, 'GET', ['dlx', 'queues'], vhostIn(flags), { query });
}

/** What does not exist if no queue is named. */
const vhostIn = ({ vhost }: CommonFlags): string | undefined => (vhost === undefined ? undefined : `vhost '${vhost}'`);

/** The messages with one value of a property. */
interface GroupOfValue {
  readonly value: string;
  readonly count: number;
  readonly example_id: string;
  readonly oldest: number | null;
  readonly newest: number | null;
  /** The kind of error of the example. Only with fingerprints. */
  readonly error?: string | null;
}

/** A line for each group of messages, with its count. */
function groupsText(body: unknown): string {
  const { groups, others } = body as {
    readonly groups: readonly GroupOfValue[];
    readonly others: number;
  };
  // A fingerprint by itself says nothing to a reader.
  const withErrors = groups.some(({ error }) => error !== undefined);
  const rows = groups.map((group) => [
    String(group.count),
    oneLine(String(group.value), 60),
    ...(withErrors ? [oneLine(group.error ?? '', 60)] : []),
    group.example_id,
    when(group.oldest),
    when(group.newest),
  ]);
  const table = prettyColumns(['count', 'what', ...(withErrors ? ['error'] : []), 'example', 'oldest', 'newest'], rows);
  return others > 0 ? `${table}\n${others} others` : table;
}

interface Group {
  readonly vhost: string;
  readonly queue: string;
  readonly reason: string;
  readonly first_queue: string;
  readonly error: string;
  readonly count: number;
  readonly oldest: number | null;
  readonly example_id: string;
}

/** A line for each group of messages with one queue, one reason and one kind of error, the largest group first. */
function allGroupsText(body: unknown, now: number): string {
  const answer = body as {
    readonly groups: readonly Group[];
    readonly queues: number;
    readonly others: number;
    readonly scanned: number;
    readonly complete: boolean;
    readonly skipped: readonly { readonly vhost: string; readonly queue: string; readonly why: string }[];
    /** Absent in the answers of earlier versions. */
    readonly unproven?: readonly { readonly vhost: string; readonly queue: string }[];
  };
  const { groups, others, skipped, unproven } = answer;
  const vhost = vhostColumn(groups);
  const rows = groups.map((group) => [
    String(group.count),
    ...vhost.map((of) => of(group)),
    group.queue,
    group.reason,
    group.first_queue,
    oneLine(group.error, 60),
    group.oldest === null ? '' : `${when(group.oldest)} (${duration(now - group.oldest)})`,
    group.example_id,
  ]);
  const head = ['count', ...vhost.map(() => 'vhost'), 'queue', 'reason', 'died first in', 'error', 'oldest', 'example'];
  return [
    prettyColumns(head, rows),
    ...(others > 0 ? [`${others} others`] : []),
    ...(skipped ?? []).map((one) => oneLine(`skipped: queue '${one.queue}' in vhost '${one.vhost}': ${one.why}`, 160)),
    ...(unproven ?? []).map((one) =>
      oneLine(`not proven: queue '${one.queue}' in vhost '${one.vhost}': only headers of its next message say so`, 160),
    ),
    `${answer.scanned} messages of ${answer.queues} queues looked at${answer.complete ? '' : ', and there are more'}`,
  ].join('\n');
}
