import type { Api } from '../api.js';
import type { Command, Input } from '../command.js';
import type { Column, Row } from '../columns/column.js';
import { channelColumns, connectionColumns } from '../columns/clients.js';
import { queueColumns } from '../columns/queues.js';
import { bindingColumns, consumerColumns, exchangeColumns, vhostColumns } from '../columns/topology.js';
import { chosen, listingOf } from '../listing.js';

const group = 'Monitoring, observability and health checks';

interface Listed {
  readonly name: string;
  readonly usage: string;
  readonly description: string;
  readonly columns: readonly Column[];
  /** The path in the management API. */
  readonly path: (input: Input) => readonly string[];
  readonly banner: (input: Input) => string;
  readonly timeout?: number;
  readonly options?: Command['options'];
  readonly only?: (row: Row, input: Input) => boolean;
}

/** The lists whose columns the user can choose. */
const lists: readonly Listed[] = [
  {
    name: 'list_queues',
    usage:
      '[--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...] [--timeout <timeout>]',
    description: 'Lists queues and their properties',
    columns: queueColumns,
    options: { online: 'flag', offline: 'flag', local: 'flag' },
    path: ({ vhost }) => ['queues', vhost],
    timeout: 60_000,
    banner: ({ vhost, timeout = 0 }) =>
      `Timeout: ${(timeout / 1000).toFixed(1)} seconds ...\nListing queues for vhost ${vhost} ...`,
    only: ({ state }, { options }) => isAsked(state, options.get('online'), options.get('offline')),
  },
  {
    name: 'list_exchanges',
    usage: '[--vhost <vhost>] [--no-table-headers] [<column> ...] [--timeout <timeout>]',
    description: 'Lists exchanges',
    columns: exchangeColumns,
    path: ({ vhost }) => ['exchanges', vhost],
    banner: ({ vhost }) => `Listing exchanges for vhost ${vhost} ...`,
  },
  {
    name: 'list_bindings',
    usage: '[--vhost <vhost>] [--no-table-headers] [<column> ...] [--timeout <timeout>]',
    description: 'Lists bindings',
    columns: bindingColumns,
    path: ({ vhost }) => ['bindings', vhost],
    banner: ({ vhost }) => `Listing bindings for vhost ${vhost}...`,
  },
  {
    name: 'list_connections',
    usage: '[--no-table-headers] [<column> ...] [--timeout <timeout>]',
    description: 'Lists connections of AMQP clients',
    columns: connectionColumns,
    path: () => ['connections'],
    banner: () => 'Listing connections ...',
  },
  {
    name: 'list_channels',
    usage: '[--no-table-headers] [<column> ...]',
    description: 'Lists channels of AMQP clients',
    columns: channelColumns,
    path: () => ['channels'],
    banner: () => 'Listing channels ...',
  },
  {
    name: 'list_consumers',
    usage: '[--vhost <vhost>] [--no-table-headers] [<column> ...] [--timeout <timeout>]',
    description: 'Lists consumers',
    columns: consumerColumns,
    path: ({ vhost }) => ['consumers', vhost],
    banner: ({ vhost }) => `Listing consumers in vhost ${vhost} ...`,
  },
];

/** Filters by `--online` and `--offline`. A queue is offline if its node is down. Default: all queues. */
function isAsked(state: unknown, online: unknown, offline: unknown): boolean {
  const isDown = state === 'down';
  if (online !== true && offline !== true) return true;
  return (online === true && !isDown) || (offline === true && isDown);
}

async function list(listed: Listed, input: Input, api: Api) {
  const rows = (await api.list(...listed.path(input))) ?? [];
  const { only } = listed;
  return listingOf(listed.columns, input.args, only === undefined ? rows : rows.filter((row) => only(row, input)));
}

const commandOf = (listed: Listed): Command => ({
  name: listed.name,
  group,
  usage: listed.usage,
  description: listed.description,
  takes: [0, Infinity],
  columns: listed.columns,
  ...(listed.options && { options: listed.options }),
  ...(listed.timeout !== undefined && { timeout: listed.timeout }),
  banner: listed.banner,
  check: ({ args }) => void chosen(listed.columns, args),
  run: (input, api) => list(listed, input, api),
});

export const listCommands: readonly Command[] = [
  ...lists.map(commandOf),
  {
    ...commandOf({
      name: 'list_vhosts',
      usage: '[--no-table-headers] [<column> ...] [--timeout <timeout>]',
      description: 'Lists virtual hosts',
      columns: vhostColumns,
      path: () => ['vhosts'],
      banner: () => 'Listing vhosts ...',
    }),
    group: 'Virtual hosts',
  },
];
