import type { Api } from '../api.js';
import type { Answer, Command } from '../command.js';
import { cellOf } from '../columns/column.js';
import { noParameter, noVhost } from '../exit.js';
import { json } from '../json-argument.js';
import { fixedListing } from '../listing.js';

const group = 'Parameters';

const put = async (api: Api, path: readonly string[], text: string, vhost: string): Promise<undefined> =>
  api.put(path, { value: json(text) }, noVhost(vhost));

async function listGlobal(api: Api): Promise<Answer> {
  const rows = (await api.list('global-parameters')) ?? [];
  const cells = rows.map(({ name, value }) => [cellOf(name), JSON.stringify(value)]);
  return fixedListing(['name', 'value'], cells);
}

async function list(api: Api, vhost: string): Promise<Answer> {
  if ((await api.find('vhosts', vhost)) === undefined) throw noVhost(vhost);
  const rows = ((await api.list('parameters')) ?? []).filter((row) => row['vhost'] === vhost);
  const cells = rows.map(({ component, name, value }) => [cellOf(component), cellOf(name), JSON.stringify(value)]);
  return fixedListing(['component', 'name', 'value'], cells);
}

export const parameterCommands: readonly Command[] = [
  {
    name: 'set_parameter',
    group,
    usage: '[--vhost <vhost>] <component_name> <name> <value>',
    description: 'Sets a runtime parameter of a virtual host',
    takes: [3, 3],
    banner: ({ args: [component, name, value], vhost }) =>
      `Setting runtime parameter "${name}" for component "${component}" to "${value}" in vhost "${vhost}" ...`,
    run: ({ args: [component = '', name = '', value = ''], vhost }, api) =>
      put(api, ['parameters', component, vhost, name], value, vhost),
  },
  {
    name: 'clear_parameter',
    group,
    usage: '[--vhost <vhost>] <component_name> <name>',
    description: 'Removes a runtime parameter of a virtual host',
    takes: [2, 2],
    banner: ({ args: [component, name], vhost }) =>
      `Clearing runtime parameter "${name}" for component "${component}" on vhost "${vhost}" ...`,
    run: ({ args: [component = '', name = ''], vhost }, api) =>
      api.remove(['parameters', component, vhost, name], noParameter()),
  },
  {
    name: 'list_parameters',
    group,
    usage: '[--vhost <vhost>] [--no-table-headers] [--timeout <timeout>]',
    description: 'Lists the runtime parameters of a virtual host',
    takes: [0, 0],
    banner: ({ vhost }) => `Listing runtime parameters for vhost "${vhost}" ...`,
    run: ({ vhost }, api) => list(api, vhost),
  },
  {
    name: 'set_global_parameter',
    group,
    usage: '<name> <value>',
    description: 'Sets a global runtime parameter',
    takes: [2, 2],
    banner: ({ args: [name, value] }) => `Setting global runtime parameter "${name}" to "${value}" ...`,
    run: ({ args: [name = '', value = ''] }, api) => put(api, ['global-parameters', name], value, '/'),
  },
  {
    name: 'clear_global_parameter',
    group,
    usage: '<name>',
    description: 'Removes a global runtime parameter',
    takes: [1, 1],
    banner: ({ args: [name] }) => `Clearing global runtime parameter "${name}" ...`,
    run: ({ args: [name = ''] }, api) => api.remove(['global-parameters', name], noParameter()),
  },
  {
    name: 'list_global_parameters',
    group,
    usage: '[--no-table-headers] [--timeout <timeout>]',
    description: 'Lists global runtime parameters',
    takes: [0, 0],
    banner: () => 'Listing global runtime parameters ...',
    run: (_input, api) => listGlobal(api),
  },
  {
    name: 'set_cluster_name',
    group,
    usage: '<name>',
    description: 'Sets the cluster name that clients see',
    takes: [1, 1],
    banner: ({ args: [name] }) => `Setting cluster name to ${name} ...`,
    run: ({ args: [name] }, api) => api.put(['cluster-name'], { name }),
  },
];
