import { rowOf } from '../api/columns.js';
import { tableToJson } from '../api/field-json.js';
import { joined as allBindings } from '../api/resources/bindings.js';
import { bindingColumns, bindingsTo } from '../api/views/binding-columns.js';
import { onlyKnown } from '../dlx/input.js';
import { deadLettersTo, edgesInto, sourceToJson } from '../dlx/queues/neighbours.js';
import { pageOfQueues, queueListIn } from '../dlx/queues/queue-list.js';
import { settingsToJson } from '../dlx/queues/settings-json.js';
import { Rows } from '../http/json.js';
import { notFound, ok } from '../http/reply.js';
import { inTurns } from '../http/turns.js';
import { ask, refusal } from './get-json.js';
import type { RawRow } from './lists.js';
import { liveColumns, numberAt } from './live-queue.js';
import { placeOf, textAt } from './mirror.js';
import { vhostsIn } from './remote.js';
import type { RemoteHandler, RemoteResource } from './resource.js';

/** A page of the queues that the user sees. */
const list: RemoteHandler = async ({ caller, query, signal }, { snapshots, turns, host }) => {
  const wanted = queueListIn(query, liveColumns);
  const snapshot = await snapshots.of(caller);
  const vhosts = vhostsIn(snapshot, query);
  const all = query.has('vhost')
    ? snapshot.queues.filter(({ queue }) => queue.home.name === vhosts[0]?.name)
    : snapshot.queues;
  const shown = {
    all,
    columns: liveColumns,
    nameOf: ({ queue }: (typeof all)[number]) => queue.name,
    isDead: ({ isDeadLetterQueue }: (typeof all)[number]) => isDeadLetterQueue,
  };
  return ok(await inTurns(pageOfQueues(wanted, shown, host.patterns), turns, signal));
};

/** One queue: its row, its settings and their sources, where its dead letters go, and where those in it come from. */
const show: RemoteHandler = async ({ caller, names, query, signal }, { snapshots, turns, server }) => {
  onlyKnown(query.keys(), [], 'parameter');
  const { vhost = '', name = '' } = names;
  const snapshot = await snapshots.of(caller);
  const graph = snapshot.graphs.get(vhost);
  const known = snapshot.queues.find(({ row }) => placeOf(row['vhost'], row['name']) === placeOf(vhost, name));
  const path = ['queues', vhost, name];
  const { status, body } = await ask(server, caller, path);
  if (status !== 200) throw refusal(path, status, body);
  if (known === undefined || graph === undefined) throw notFound(); // declared a moment ago
  const { queue } = known;
  const sources = await inTurns(edgesInto(queue, graph), turns, signal);
  const home = snapshot.mirror.broker.virtualHosts.get(vhost)!;
  const bindings = await inTurns(allBindings(bindingsTo(home, queue)), turns, signal);
  // The numbers of the answer are newer than those of the snapshot.
  const live = { ...known, row: { ...known.row, ...(body as RawRow), arguments: known.row['arguments'] } };
  return ok({
    ...rowOf(live, liveColumns),
    arguments: tableToJson(queue.declared.arguments),
    counters: null,
    settings: settingsToJson(queue),
    dead_letters_to: deadLettersTo(queue, graph),
    dead_letters_from: new Rows(sources, (edge) => sourceToJson(queue, edge)),
    bindings: new Rows(bindings, (binding) => rowOf(binding, bindingColumns)),
    consumers_list: consumersIn((body as RawRow)['consumer_details']),
  });
};

/** The consumers of a queue, as the server lists them. */
function consumersIn(details: unknown): readonly object[] {
  const rows = Array.isArray(details) ? details.filter((row) => typeof row === 'object' && row !== null) : [];
  return (rows as readonly RawRow[]).map((row) => {
    const channel = row['channel_details'];
    const of = typeof channel === 'object' && channel !== null ? (channel as RawRow) : {};
    return {
      consumer_tag: textAt(row, 'consumer_tag'),
      channel: textAt(of, 'name'),
      user: textAt(of, 'user'),
      ack_required: row['ack_required'] === true,
      prefetch_count: numberAt(row, 'prefetch_count') ?? 0,
    };
  });
}

export const queues: readonly RemoteResource[] = [
  { path: '/dlx/queues', GET: list },
  { path: '/dlx/queues/:vhost/:name', GET: show },
];
