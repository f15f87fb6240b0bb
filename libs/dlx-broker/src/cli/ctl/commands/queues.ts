import { type Api, reasonOf } from '../api.js';
import type { Answer, Command, Input } from '../command.js';
import { badArgument, exit, refused } from '../exit.js';

const group = 'Queues';

const purge = ({ args: [name = ''], vhost }: Input, api: Api): Promise<undefined> =>
  api.remove(['queues', vhost, name, 'contents'], refused(exit.unavailable, 'not_found'));

const conditions = ['if-empty', 'if-unused'] as const;

async function remove({ args: [name = ''], options, vhost }: Input, api: Api): Promise<Answer> {
  const queue = await api.find('queues', vhost, name);
  if (queue === undefined) throw refused(exit.usage, 'Queue not found');
  const asked = conditions.filter((condition) => options.get(condition) === true);
  const query = Object.fromEntries(asked.map((condition) => [condition, 'true']));
  const path = ['queues', vhost, name];
  const { status, body } = await api.call('DELETE', path, [200, 204, 400, 404, 405], { query });
  if (status === 404) throw refused(exit.usage, 'Queue not found');
  if (status >= 400) throw refused(exit.usage, refusal(reasonOf(body) ?? 'refused'));
  return { message: `Queue was successfully deleted with ${Number(queue['messages_ready'] ?? 0)} ready messages` };
}

/** RabbitMQ's texts for `--if-empty` and `--if-unused`. */
function refusal(reason: string): string {
  if (reason.endsWith('not empty')) return 'Queue is not empty';
  return reason.endsWith('in use') ? 'Queue is in use' : reason;
}

export const queueCommands: readonly Command[] = [
  {
    name: 'delete_queue',
    group,
    usage: '<queue_name> [--if-empty|-e] [--if-unused|-u] [--timeout <timeout>]',
    description: 'Deletes a queue',
    takes: [1, 1],
    options: { 'if-empty': 'flag', 'if-unused': 'flag' },
    short: { e: 'if-empty', u: 'if-unused' },
    check({ args: [name] }) {
      if (name === '') throw badArgument('queue name cannot be an empty string');
    },
    banner: ({ args: [name], options, vhost }) => {
      const ifs = conditions
        .filter((condition) => options.get(condition) === true)
        .map((condition) => `if queue is ${condition.slice(3)}`);
      return `Deleting queue '${name}' on vhost '${vhost}'${ifs.length > 0 ? ` ${ifs.join(' and ')}` : ''} ...`;
    },
    run: remove,
  },
  {
    name: 'purge_queue',
    group,
    usage: '<queue> [--timeout <timeout>]',
    description: 'Removes all ready messages of a queue',
    takes: [1, 1],
    banner: ({ args: [name], vhost }) => `Purging queue '${name}' in vhost '${vhost}' ...`,
    run: purge,
  },
];
