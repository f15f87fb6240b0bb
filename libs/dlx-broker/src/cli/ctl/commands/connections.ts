import { setTimeout as wait } from 'node:timers/promises';
import type { Api } from '../api.js';
import type { Answer, Command, Input } from '../command.js';
import type { Row } from '../columns/column.js';
import { exit, refused } from '../exit.js';

const group = 'Operations';

const close = (api: Api, name: string, reason = '') =>
  // A header is one line of plain characters: others would be refused before they are sent.
  api.call('DELETE', ['connections', name], [204, 404], {
    headers: { 'x-reason': reason.replace(/[^\u0020-\u007e\u00a0-\u00ff]/g, '?') },
  });

async function closeOne({ args: [name = '', reason] }: Input, api: Api): Promise<undefined> {
  const { status } = await close(api, name, reason);
  if (status === 404) throw refused(exit.unavailable, `no connection is called '${name}'`);
}

async function closeAll(
  input: Input,
  api: Api,
  reason: string | undefined,
  among: (row: Row) => boolean,
): Promise<number> {
  const connections = ((await api.list('connections')) ?? []).filter(among);
  const limit = Number(input.options.get('limit') ?? 0);
  const asked = limit > 0 ? connections.slice(0, limit) : connections;
  const pause = Number(input.options.get('per-connection-delay') ?? 0);
  for (const { name } of asked) {
    await close(api, String(name), reason);
    if (pause > 0) await wait(pause);
  }
  return asked.length;
}

async function closeAllOfVhost(input: Input, api: Api): Promise<Answer> {
  const everywhere = input.options.get('global') === true;
  const [reason] = input.args;
  const closed = await closeAll(input, api, reason, ({ vhost }) => everywhere || vhost === input.vhost);
  return { result: `Closed ${closed} connections` };
}

async function closeAllOfUser(input: Input, api: Api): Promise<undefined> {
  const [name, reason] = input.args;
  await closeAll(input, api, reason, ({ user }) => user === name);
}

const pacing = { limit: 'whole', 'per-connection-delay': 'whole' } as const;

export const connectionCommands: readonly Command[] = [
  {
    name: 'close_connection',
    group,
    usage: '<connection pid> <explanation>',
    description: 'Closes a connection, named as list_connections pid shows it',
    takes: [2, 2],
    banner: ({ args: [name, reason] }) => `Closing connection ${name}, reason: ${reason}...`,
    run: closeOne,
  },
  {
    name: 'close_all_connections',
    group,
    usage: '[--vhost <vhost> --limit <limit>] [-n <node> --global] [--per-connection-delay <delay>] <explanation>',
    description: 'Closes all connections in a virtual host, or everywhere',
    takes: [1, 1],
    options: { global: 'flag', ...pacing },
    banner: ({ args: [reason], options, vhost }) => {
      const limit = Number(options.get('limit') ?? 0);
      if (options.get('global') === true) return `Closing all connections (across all vhosts), reason: ${reason}...`;
      return `Closing ${limit > 0 ? limit : 'all'} connections in vhost ${vhost}, reason: ${reason}...`;
    },
    run: closeAllOfVhost,
  },
  {
    name: 'close_all_user_connections',
    group,
    usage: '<username> <explanation>',
    description: 'Closes all connections of a user',
    takes: [2, 2],
    banner: ({ args: [user, reason] }) => `Closing connections of user ${user}, reason: ${reason}...`,
    run: closeAllOfUser,
  },
];
