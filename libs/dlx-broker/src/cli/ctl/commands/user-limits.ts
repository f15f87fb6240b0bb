import { erlangJson, isUserLimit } from '../../../broker/index.js';
import type { Api } from '../api.js';
import { cellOf } from '../columns/column.js';
import type { Answer, Command, Input } from '../command.js';
import { exit, noSuchUser, refused } from '../exit.js';
import { json } from '../json-argument.js';
import { fixedListing } from '../listing.js';

const group = 'Users';

/** The user of the limits is an argument. rabbitmqctl has the option `--user` for it, which is the login here. */
const shown = ({ args: [name = 'guest'] }: Input): string => name;

/** @throws CtlFailure with RabbitMQ's text. Names are checked before values, as RabbitMQ does */
function limitsIn(definition: string): readonly (readonly [string, number])[] {
  const value = json(definition);
  const wrong = (text: string) => refused(exit.unavailable, text);
  if (Array.isArray(value) && value.length > 0) throw wrong(`Unrecognised terms ${erlangJson(value)} in user-limits`);
  if (Array.isArray(value)) throw wrong('It must be a JSON object');
  if (typeof value !== 'object' || value === null) throw wrong(`user-limits not a list ${erlangJson(value)}`);
  const limits = Object.entries(value);
  const unknown = limits.filter(([limit]) => !isUserLimit(limit)).sort(([one], [other]) => (one < other ? -1 : 1));
  if (unknown.length > 0) {
    const terms = unknown.map(([limit, each]) => `{${erlangJson(limit)},${erlangJson(each)}}`);
    throw wrong(`Unrecognised terms [${terms.join(',')}] in user-limits`);
  }
  for (const [limit, each] of limits)
    if (!Number.isSafeInteger(each)) throw wrong(`${limit} should be a number, actually was ${erlangJson(each)}`);
  return limits as [string, number][];
}

/** Sets the limits one by one, as the API requires. All are checked before the first is set. */
async function set({ args: [name = '', definition = ''] }: Input, api: Api): Promise<undefined> {
  const limits = limitsIn(definition);
  if ((await api.find('users', name)) === undefined) throw noSuchUser(name);
  for (const [limit, value] of limits) {
    await api.put(['user-limits', name, limit], { value });
  }
}

async function clear({ args: [name = '', limit = ''] }: Input, api: Api): Promise<undefined> {
  if ((await api.find('users', name)) === undefined) throw noSuchUser(name);
  await api.call('DELETE', ['user-limits', name, limit], [204]);
}

async function list(input: Input, api: Api): Promise<Answer> {
  const isOfAll = input.options.get('global') === true;
  const rows = await api.list('user-limits', ...(isOfAll ? [] : [shown(input)]));
  if (rows === undefined) throw noSuchUser(shown(input));
  if (!isOfAll) return { message: JSON.stringify(rows[0]?.['value'] ?? {}) };
  const cells = rows.map((row) => [cellOf(row['user']), JSON.stringify(row['value'])]);
  return fixedListing(['user', 'limits'], cells);
}

export const userLimitCommands: readonly Command[] = [
  {
    name: 'set_user_limits',
    group,
    usage: '<username> <definition>',
    description: 'Sets limits of a user: max-connections, max-channels',
    takes: [2, 2],
    banner: ({ args: [name, definition] }) => `Setting user limits to "${definition}" for user "${name}" ...`,
    run: set,
  },
  {
    name: 'clear_user_limits',
    group,
    usage: '<username> <limit_type> | all',
    description: 'Removes a limit of a user, or all of them',
    takes: [2, 2],
    banner: ({ args: [name, limit] }) =>
      limit === 'all'
        ? `Clearing all limits for user "${name}" ...`
        : `Clearing "${limit}" limit for user "${name}" ...`,
    run: clear,
  },
  {
    name: 'list_user_limits',
    group,
    usage: '[<username>] [--global]',
    description: 'Shows the limits of a user, or of all users',
    takes: [0, 1],
    options: { global: 'flag' },
    banner: (input) =>
      input.options.get('global') === true
        ? 'Listing limits for all users ...'
        : `Listing limits for user "${shown(input)}" ...`,
    run: list,
  },
];
