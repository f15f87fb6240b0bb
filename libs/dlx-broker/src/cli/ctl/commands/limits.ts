import type { Api } from '../api.js';
import type { Answer, Command, Input } from '../command.js';
import { noParameter, noVhost } from '../exit.js';
import { jsonArgument } from '../json-argument.js';
import { fixedListing } from '../listing.js';
import { cellOf } from '../columns/column.js';

const group = 'Virtual hosts';

/** Limits are one runtime parameter of their virtual host. */
const parameter = (vhost: string): readonly string[] => ['parameters', 'vhost-limits', vhost, 'limits'];

async function list({ vhost, options }: Input, api: Api): Promise<Answer> {
  const everywhere = options.get('global') === true;
  const rows = await api.list('vhost-limits', ...(everywhere ? [] : [vhost]));
  if (rows === undefined) throw noVhost(vhost);
  // Without any limit RabbitMQ writes its empty object as a list.
  const limits = rows.filter(({ value }) => !Array.isArray(value));
  if (everywhere) {
    const cells = limits.map((row) => [cellOf(row['vhost']), JSON.stringify(row['value'])]);
    return fixedListing(['vhost', 'limits'], cells);
  }
  return limits[0] === undefined ? fixedListing([], []) : { result: JSON.stringify(limits[0]['value']) };
}

export const limitCommands: readonly Command[] = [
  {
    name: 'set_vhost_limits',
    group,
    usage: '[--vhost <vhost>] <definition>',
    description: 'Sets limits of a virtual host: max-connections, max-queues',
    takes: [1, 1],
    banner: ({ args: [definition], vhost }) => `Setting vhost limits to "${definition}" for vhost "${vhost}" ...`,
    run: async ({ args: [definition = ''], vhost }, api) => {
      const { value } = jsonArgument(definition);
      return api.put(parameter(vhost), { value }, noVhost(vhost));
    },
  },
  {
    name: 'clear_vhost_limits',
    group,
    usage: '[--vhost <vhost>]',
    description: 'Removes all limits of a virtual host',
    takes: [0, 0],
    banner: ({ vhost }) => `Clearing vhost "${vhost}" limits ...`,
    run: ({ vhost }, api) => api.remove(parameter(vhost), noParameter()),
  },
  {
    name: 'list_vhost_limits',
    group,
    usage: '[--vhost <vhost>] [--global] [--no-table-headers]',
    description: 'Shows the limits of a virtual host, or of all',
    takes: [0, 0],
    options: { global: 'flag' },
    banner: ({ vhost, options }) =>
      `Listing limits for ${options.get('global') === true ? 'all vhosts' : `vhost "${vhost}"`} ...`,
    run: list,
  },
];
