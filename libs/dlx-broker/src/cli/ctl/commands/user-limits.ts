import { type Api, reasonOf } from '../api.js';
import { cellOf } from '../columns/column.js';
import type { Answer, Command, Input } from '../command.js';
import { type CtlFailure, exit, refused } from '../exit.js';
import { jsonArgument } from '../json-argument.js';
import { fixedListing } from '../listing.js';

const group = 'Users';
const known: readonly string[] = ['max-channels', 'max-connections'];
const noUser = (name: string): CtlFailure => refused(exit.noUser, `User "${name}" does not exist`);

/** Named by an argument: the option `--user`, which rabbitmqctl has for it, is who logs in here. */
const shown = ({ args: [name = 'guest'] }: Input): string => name;

/** The API takes one limit at a time: what it will refuse is sent first, so that nothing is set then. */
async function set({ args: [name = '', definition = ''] }: Input, api: Api): Promise<undefined> {
  const { value: limits } = jsonArgument(definition);
  if ((await api.find('users', name)) === undefined) throw noUser(name);
  const isRight = ([limit, value]: readonly [string, unknown]): boolean =>
    known.includes(limit) && Number.isSafeInteger(value);
  const entries = Object.entries(limits);
  for (const [limit, value] of [...entries.filter((entry) => !isRight(entry)), ...entries.filter(isRight)]) {
    const { status, body } = await api.call('PUT', ['user-limits', name, limit], [204, 400], { body: { value } });
    if (status === 400) throw refused(exit.unavailable, reasonOf(body) ?? 'refused');
  }
}

async function clear({ args: [name = '', limit = ''] }: Input, api: Api): Promise<undefined> {
  if ((await api.find('users', name)) === undefined) throw noUser(name);
  await api.call('DELETE', ['user-limits', name, limit], [204]);
}

async function list(input: Input, api: Api): Promise<Answer> {
  const isOfAll = input.options.get('global') === true;
  const rows = await api.list('user-limits', ...(isOfAll ? [] : [shown(input)]));
  if (rows === undefined) throw noUser(shown(input));
  if (!isOfAll) return { result: JSON.stringify(rows[0]?.['value'] ?? {}) };
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
