import type { Api } from '../api.js';
import type { Command, Input } from '../command.js';
import { noParameter, noVhost } from '../exit.js';
import { cellOf } from '../columns/column.js';
import { jsonArgument } from '../json-argument.js';
import { fixedListing } from '../listing.js';

/** The two kinds of policies, and their texts. */
const kinds = [
  {
    path: 'policies',
    set: 'set_policy',
    clear: 'clear_policy',
    list: 'list_policies',
    called: 'policy',
    calledMany: 'policies',
    many: 'all policies in a virtual host',
  },
  {
    path: 'operator-policies',
    set: 'set_operator_policy',
    clear: 'clear_operator_policy',
    list: 'list_operator_policies',
    called: 'operator policy',
    calledMany: 'operator policy overrides',
    many: 'the operator policies of a virtual host',
  },
] as const;

const columns = ['vhost', 'name', 'pattern', 'apply-to', 'definition', 'priority'] as const;

async function set({ args, options, vhost }: Input, api: Api, kind: string): Promise<undefined> {
  const [name = '', pattern, definition = ''] = args;
  const { value } = jsonArgument(definition);
  const priority = options.get('priority') ?? 0;
  const body = { pattern, definition: value, priority, 'apply-to': options.get('apply-to') ?? 'all' };
  return api.put([kind, vhost, name], body, noVhost(vhost));
}

async function list({ vhost }: Input, api: Api, kind: string) {
  const rows = await api.list(kind, vhost);
  if (rows === undefined) throw noVhost(vhost);
  const cells = rows.map((row) =>
    columns.map((column) => (column === 'definition' ? JSON.stringify(row[column]) : cellOf(row[column]))),
  );
  return fixedListing(columns, cells);
}

export const policyCommands: readonly Command[] = kinds.flatMap((kind): Command[] => [
  {
    name: kind.set,
    group: 'Policies',
    usage: '[--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>',
    description: `Makes or replaces ${kind.called === 'policy' ? 'a policy' : 'an operator policy'}`,
    takes: [3, 3],
    options: { priority: 'whole', 'apply-to': 'text' },
    banner: ({ args: [name, pattern, definition], options, vhost }) =>
      `Setting ${kind.called}${kind.called === 'policy' ? '' : ' override'} "${name}" for pattern "${pattern}" to ` +
      `"${definition}" with priority "${options.get('priority') ?? 0}" for vhost "${vhost}" ...`,
    run: (input, api) => set(input, api, kind.path),
  },
  {
    name: kind.clear,
    group: 'Policies',
    usage: '[--vhost <vhost>] <name>',
    description: `Removes ${kind.called === 'policy' ? 'a policy' : 'an operator policy'}`,
    takes: [1, 1],
    banner: ({ args: [name], vhost }) => `Clearing ${kind.called} "${name}" on vhost "${vhost}" ...`,
    run: ({ args: [name = ''], vhost }, api) => api.remove([kind.path, vhost, name], noParameter()),
  },
  {
    name: kind.list,
    group: 'Policies',
    usage: '[--vhost <vhost>] [--no-table-headers] [--timeout <timeout>]',
    description: `Lists ${kind.many}`,
    takes: [0, 0],
    banner: ({ vhost }) => `Listing ${kind.calledMany} for vhost "${vhost}" ...`,
    run: (input, api) => list(input, api, kind.path),
  },
]);
