import { type Api, type Reply, reasonOf } from '../api.js';
import type { Answer, Command, Input } from '../command.js';
import { cellOf, type Row } from '../columns/column.js';
import { type CtlFailure, exit, type ExitCode, noSuchUser, noVhost, refused } from '../exit.js';
import { fixedListing } from '../listing.js';

const group = 'Access Control';

/** RabbitMQ's answer does not say whether user or virtual host is missing, so both are looked up. */
async function whoIsMissing(api: Api, user: string, vhost: string): Promise<CtlFailure | undefined> {
  const missing = (code: ExitCode, what: string) => refused(code, `${what} does not exist`, `${what} does not exist`);
  if ((await api.find('users', user)) === undefined) return missing(exit.noUser, `User ${user}`);
  if ((await api.find('vhosts', vhost)) === undefined) return missing(exit.unavailable, `Virtual host ${vhost}`);
  return undefined;
}

/** The error for an invalid pattern, as rabbitmqctl shows it. The API sends the pattern as a list of character codes. */
function patternRefusal(reason: unknown): string | undefined {
  if (!Array.isArray(reason) || reason[0] !== 'invalid_regexp') return undefined;
  const [, pattern, why] = reason as [string, string | number[], [string | number[], number]];
  const letters = (text: string | number[]): string => (typeof text === 'string' ? text : String.fromCharCode(...text));
  const shown = typeof pattern === 'string' ? `"${pattern}"` : `'${letters(pattern)}'`;
  return `{:invalid_regexp, ${shown}, {'${letters(why[0])}', ${why[1]}}}`;
}

async function put(api: Api, path: readonly string[], body: Row, user: string, vhost: string): Promise<undefined> {
  const reply: Reply = await api.call('PUT', path, [201, 204, 400, 404], { body });
  if (reply.status < 400) return;
  const missing = await whoIsMissing(api, user, vhost);
  const { reason } = (reply.body ?? {}) as { reason?: unknown };
  throw missing ?? refused(exit.unavailable, patternRefusal(reason) ?? reasonOf(reply.body) ?? 'refused');
}

async function remove(api: Api, path: readonly string[], user: string, vhost: string): Promise<undefined> {
  const { status } = await api.call('DELETE', path, [204, 404]);
  if (status === 204) return;
  const missing = await whoIsMissing(api, user, vhost);
  if (missing !== undefined) throw missing;
}

/** Rights in one virtual host, or of one user. */
async function list(api: Api, path: readonly string[], columns: readonly string[], none: CtlFailure): Promise<Answer> {
  const rows = await api.list(...path);
  if (rows === undefined) throw none;
  return fixedListing(
    columns,
    rows.map((row) => columns.map((column) => cellOf(row[column]))),
  );
}

const listOptions = '[--no-table-headers]';

/** The patterns for resources, and those for the routing keys of topic exchanges. */
const kinds = [
  { what: 'permissions', path: 'permissions', vhostColumns: ['user', 'configure', 'write', 'read'] },
  { what: 'topic permissions', path: 'topic-permissions', vhostColumns: ['user', 'exchange', 'write', 'read'] },
] as const;

const listings: readonly Command[] = kinds.flatMap(({ what, path, vhostColumns }): Command[] => {
  const name = what.replace(' ', '_');
  return [
    {
      name: `list_${name}`,
      group,
      usage: `[--vhost <vhost>] ${listOptions} [--timeout <timeout>]`,
      description: `Lists ${what} in a virtual host`,
      takes: [0, 0],
      banner: ({ vhost }) => `Listing ${what} for vhost "${vhost}" ...`,
      run: ({ vhost }, api) => list(api, ['vhosts', vhost, path], vhostColumns, noVhost(vhost)),
    },
    {
      name: `list_user_${name}`,
      group,
      usage: `${listOptions} <username> [--timeout <timeout>]`,
      description: `Lists ${what} of a user`,
      takes: [1, 1],
      banner: ({ args: [user] }) => `Listing ${what} for user "${user}" ...`,
      run: ({ args: [user = ''] }, api) =>
        list(api, ['users', user, path], ['vhost', ...vhostColumns.slice(1)], noSuchUser(user)),
    },
  ];
});

const set: Command = {
  name: 'set_permissions',
  group,
  usage: '[--vhost <vhost>] <username> <conf> <write> <read>',
  description: 'Sets what a user may configure, write and read in a virtual host',
  takes: [4, 4],
  banner: ({ args: [user], vhost }) => `Setting permissions for user "${user}" in vhost "${vhost}" ...`,
  run: ({ args: [user = '', configure, write, read], vhost }, api) =>
    put(api, ['permissions', vhost, user], { configure, write, read }, user, vhost),
};

const clear: Command = {
  name: 'clear_permissions',
  group,
  usage: '[--vhost <vhost>] <username>',
  description: 'Removes the permissions of a user in a virtual host',
  takes: [1, 1],
  banner: ({ args: [user], vhost }) => `Clearing permissions for user "${user}" in vhost "${vhost}" ...`,
  run: ({ args: [user = ''], vhost }, api) => remove(api, ['permissions', vhost, user], user, vhost),
};

const setTopic: Command = {
  name: 'set_topic_permissions',
  group,
  usage: '[--vhost <vhost>] <username> <exchange> <write> <read>',
  description: 'Sets which routing keys of a topic exchange a user may write and read',
  takes: [4, 4],
  banner: ({ args: [user, exchange], vhost }) =>
    `Setting topic permissions on "${exchange}" for user "${user}" in vhost "${vhost}" ...`,
  run: ({ args: [user = '', exchange, write, read], vhost }, api) =>
    put(api, ['topic-permissions', vhost, user], { exchange, write, read }, user, vhost),
};

const clearTopic: Command = {
  name: 'clear_topic_permissions',
  group,
  usage: '[--vhost <vhost>] <username> [<exchange>]',
  description: 'Removes the topic permissions of a user, for one exchange or for all',
  takes: [1, 2],
  banner: ({ args: [user, exchange], vhost }: Input) =>
    `Clearing topic permissions${exchange === undefined ? '' : ` on "${exchange}"`} for user "${user}" in vhost "${vhost}" ...`,
  run: ({ args: [user = '', ...exchange], vhost }, api) =>
    remove(api, ['topic-permissions', vhost, user, ...exchange], user, vhost),
};

export const permissionCommands: readonly Command[] = [set, clear, setTopic, clearTopic, ...listings];
