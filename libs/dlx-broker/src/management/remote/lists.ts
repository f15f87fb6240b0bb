import { maxNesting } from '../../message/index.js';
import { Problem } from '../http/reply.js';
import type { Caller } from './caller.js';
import { ask, getJson, refusal } from './get-json.js';
import type { RemoteServer } from './remote-server.js';
import { foreignServer } from './unreachable.js';

/** A row of a list of the server, whose form is not known yet. */
export type RawRow = Readonly<Record<string, unknown>>;

/** The rows on a page, and the most pages: 50,000 rows. */
const pages = { size: 500, most: 100 } as const;

/** The columns of queues that are read. Without them the server sends ten times as much. */
const queueColumns =
  'name,vhost,type,durable,auto_delete,exclusive,arguments,state,idle_since,policy,operator_policy,' +
  'messages_ready,messages_unacknowledged,messages_dlx,consumers,' +
  'message_stats.publish_details.rate,message_stats.deliver_get_details.rate';

const exchangeColumns = 'name,vhost,type,durable,auto_delete,internal,arguments,policy';

/** What a user sees of a server: lists as the management API has them. */
export interface Lists {
  readonly version: string;
  readonly vhosts: readonly RawRow[];
  readonly queues: readonly RawRow[];
  readonly exchanges: readonly RawRow[];
  readonly bindings: readonly RawRow[];
  readonly policies: readonly RawRow[];
  readonly operatorPolicies: readonly RawRow[];
}

/** Loads all lists in the name of a user. @throws Problem */
export async function loadLists(server: RemoteServer, caller: Caller): Promise<Lists> {
  const all = (path: string, query?: Readonly<Record<string, string>>): Promise<readonly RawRow[]> =>
    getJson(server, caller, [path], query).then((body) => rowsIn(body, server, path));
  const [overview, vhosts, bindings, policies, operatorPolicies, exchanges] = await Promise.all([
    getJson(server, caller, ['overview'], { columns: 'rabbitmq_version' }),
    all('vhosts', { columns: 'name' }),
    all('bindings', { columns: 'source,vhost,destination,destination_type,routing_key,arguments' }),
    all('policies'),
    policiesOfOperator(server, caller),
    pagesOf(server, caller, 'exchanges', exchangeColumns),
  ]);
  // Last, so that each binding of the other lists can have its queue, unless the queue was deleted meanwhile.
  const queues = await pagesOf(server, caller, 'queues', queueColumns);
  const { rabbitmq_version: version } = overview as { readonly rabbitmq_version?: unknown };
  if (typeof version !== 'string') throw foreignServer(server.base, 'GET /api/overview');
  return { version, vhosts, bindings, policies, operatorPolicies, exchanges, queues };
}

/** Policies of the operator. A server may refuse them to some users: then none are known. */
async function policiesOfOperator(server: RemoteServer, caller: Caller): Promise<readonly RawRow[]> {
  const path = 'operator-policies';
  const { status, body } = await ask(server, caller, [path]);
  if (status === 401 || status === 403 || status === 404) return [];
  if (status !== 200) throw refusal([path], status, body);
  return rowsIn(body, server, path);
}

async function pagesOf(
  server: RemoteServer,
  caller: Caller,
  path: string,
  columns: string,
): Promise<readonly RawRow[]> {
  const rows: RawRow[] = [];
  for (let page = 1, count = 1; page <= count; page++) {
    const query = { page: String(page), page_size: String(pages.size), columns };
    const { status, body } = await ask(server, caller, [path], query);
    if (status === 400 && page > 1) break; // the list has become shorter meanwhile
    if (status !== 200) throw refusal([path], status, body);
    const { items, page_count } = (body ?? {}) as { readonly items?: unknown; readonly page_count?: unknown };
    if (typeof page_count !== 'number') throw foreignServer(server.base, `GET /api/${path}`);
    if (page_count > pages.most) {
      const said = `The server has more than ${pages.most * pages.size} ${path}, which this console does not show`;
      throw new Problem(503, 'too_many_rows', said);
    }
    count = page_count;
    rows.push(...rowsIn(items, server, path));
  }
  return rows;
}

/** @throws Problem for what is no list of objects */
function rowsIn(body: unknown, server: RemoteServer, path: string): readonly RawRow[] {
  const isRow = (row: unknown): boolean => typeof row === 'object' && row !== null;
  if (Array.isArray(body) && body.every(isRow)) return (body as readonly RawRow[]).map(bounded);
  throw foreignServer(server.base, `GET /api/${path}`);
}

/** Stands for arguments that a client has nested too deeply for any work with them. */
export const tooDeep = 'arguments are nested too deeply';

const bounded = (row: RawRow): RawRow =>
  isDeeper(row['arguments'], maxNesting) ? { ...row, arguments: tooDeep } : row;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1)));
