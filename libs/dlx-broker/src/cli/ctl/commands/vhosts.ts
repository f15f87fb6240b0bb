import type { Api } from '../api.js';
import type { Command, Input } from '../command.js';
import { exit, noVhost, refused } from '../exit.js';

const group = 'Virtual hosts';

const queueTypes: readonly unknown[] = ['quorum', 'classic', 'stream'];

async function add({ args: [name = ''], options }: Input, api: Api): Promise<undefined> {
  const queueType = options.get('default-queue-type');
  if (queueType !== undefined && !queueTypes.includes(queueType)) throw refused(exit.unavailable, 'invalid_queue_type');
  const body = {
    ...(options.has('description') && { description: options.get('description') }),
    ...(options.has('tags') && { tags: options.get('tags') }),
    ...(queueType !== undefined && { default_queue_type: queueType }),
  };
  await api.put(['vhosts', name], body);
  if (queueType === undefined || (await api.find('vhosts', name))?.['default_queue_type'] === queueType) return;
  // RabbitMQ 3.10 ignores the type over HTTP without an error.
  throw refused(exit.unavailable, `The virtual host is there, but without the default queue type '${queueType}'`);
}

async function tag({ args: [name = '', ...tags] }: Input, api: Api): Promise<undefined> {
  const found = await api.find('vhosts', name);
  if (found === undefined) {
    const missing = `Virtual host "${name}" does not exist`;
    throw refused(exit.data, missing, `${missing}s`);
  }
  const { description = '' } = found;
  return api.put(['vhosts', name], { description, tags: tags.join(',') });
}

export const vhostCommands: readonly Command[] = [
  {
    name: 'add_vhost',
    group,
    usage:
      '<vhost> [--description <description> --tags "<tag1>,<tag2>,<...>" --default-queue-type <quorum|classic|stream>]',
    description: 'Makes a virtual host',
    takes: [1, 1],
    options: { description: 'text', tags: 'text', 'default-queue-type': 'text' },
    banner: ({ args: [name] }) => `Adding vhost "${name}" ...`,
    run: add,
  },
  {
    name: 'delete_vhost',
    group,
    usage: '<vhost>',
    description: 'Deletes a virtual host and everything in it',
    takes: [1, 1],
    banner: ({ args: [name] }) => `Deleting vhost "${name}" ...`,
    run: ({ args: [name = ''] }, api) => api.remove(['vhosts', name], noVhost(name)),
  },
  {
    name: 'set_vhost_tags',
    group,
    usage: '<vhost> <tag> [...]',
    description: 'Sets the tags of a virtual host',
    takes: [1, Infinity],
    banner: ({ args: [name, ...tags] }) => `Setting tags for virtual host "${name}" to [${tags.join(', ')}] ...`,
    run: tag,
  },
];
