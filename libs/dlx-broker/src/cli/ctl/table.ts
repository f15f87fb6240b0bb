import { readFileSync, writeFileSync } from 'node:fs';
import type { Api } from '../api.js';
import { CommandError, exit } from '../command-error.js';
import { type Facts, get, type Given, json, passwordOf, request, status } from './request.js';

/** A command. A new one is a row of `table`. */
export interface Row {
  /** Its name and its arguments, as commander reads them. */
  readonly command: string;
  readonly about: string;
  /** Flags and description. */
  readonly options?: readonly (readonly [flags: string, about: string])[];
  /** Method and path, with names of arguments. A command without `call` has `run`. */
  readonly call?: string;
  /** What is set or removed. */
  readonly thing?: string;
  /** What happened to it. Default: set, or removed. */
  readonly done?: string;
  readonly body?: (given: Given) => unknown;
  readonly headers?: (given: Given) => Readonly<Record<string, string>>;
  /** Flags, and the parameters of the request that they set. */
  readonly query?: Readonly<Record<string, string>>;
  /** Columns of a list: those that are shown, and others that arguments can name. */
  readonly columns?: readonly [shown: string, others: string];
  /** The rows of a list that are shown. */
  readonly only?: (row: Facts, given: Given) => boolean;
  /** @returns a text or an object for standard output */
  readonly run?: (given: Given, api: Api, stdin: () => Promise<string>) => Promise<string | Facts | void>;
}

const row = (command: string, about: string, call: string, thing: string, more: Partial<Row> = {}): Row =>
  Object.assign({ command, about, call, thing }, more);

/** A list with these columns, and others that arguments can name. */
const list = (command: string, path: string, shown: string, others = '', more: Partial<Row> = {}): Row => {
  const about = command.replace(/ .*/, '').replace('list', 'List').replaceAll('_', ' ');
  return { command, about, call: `GET ${path}`, columns: [shown, others], ...more };
};

const policies = (word: string, plural: string, path: string): readonly Row[] => [
  row(`set_${word} <name> <pattern> <definition>`, 'Set one', `PUT ${path}/{vhost}/{name}`, 'policy {name}', {
    options: [
      ['--apply-to <WHAT>', 'queues, exchanges or all (default: all)'],
      ['--priority <NUMBER>', 'of several that fit, the highest applies (default: 0)'],
    ],
    body: (given) => ({
      pattern: given['pattern'],
      definition: json(given, 'definition'),
      priority: priorityOf(given),
      'apply-to': given['applyTo'] ?? 'all',
    }),
  }),
  row(`clear_${word} <name>`, 'Remove one', `DELETE ${path}/{vhost}/{name}`, 'policy {name}'),
  list(`list_${plural}`, `${path}/{vhost}`, 'vhost name pattern apply-to definition priority'),
];

const permissions = (kind: string, first: string, optional: string): readonly Row[] => {
  const path = kind.replace('_', '-');
  const call = `${path}/{vhost}/{user}`;
  const thing = `${kind.replace('_', ' ')} of user {user}`;
  return [
    row(`set_${kind} <user> <${first}> <write> <read>`, 'Set patterns for a user', `PUT ${call}`, thing, {
      body: ({ [first]: one, write, read }) => ({ [first]: one, write, read }),
    }),
    row(`clear_${kind} <user>${optional}`, 'Remove those of a user', `DELETE ${call}/{exchange}`, thing),
    list(`list_${kind}`, `vhosts/{vhost}/${path}`, `user ${first} write read`),
    list(`list_user_${kind} <user>`, `users/{user}/${path}`, `vhost ${first} write read`),
  ];
};

const vhostLimits = 'parameters/vhost-limits/{vhost}/limits';
const parameter = 'parameter {name} of {component}';

/** All commands, by the headings of the help. */
export const table: Readonly<Record<string, readonly Row[]>> = {
  Policies: [
    ...policies('policy', 'policies', 'policies'),
    ...policies('operator_policy', 'operator_policies', 'operator-policies'),
  ],
  Lists: [
    list(
      'list_queues',
      'queues/{vhost}',
      'name messages',
      'type durable auto_delete exclusive arguments policy operator_policy effective_policy_definition state ' +
        'messages_ready messages_unacknowledged messages_ram messages_persistent message_bytes message_bytes_ready ' +
        'message_bytes_unacknowledged message_bytes_ram message_bytes_persistent head_message_timestamp consumers ' +
        'consumer_utilisation consumer_capacity memory owner_pid leader members online',
    ),
    list('list_exchanges', 'exchanges/{vhost}', 'name type', 'durable auto_delete internal arguments policy'),
    list('list_bindings', 'bindings/{vhost}', 'source_name destination_name destination_kind routing_key arguments'),
    list(
      'list_consumers',
      'consumers/{vhost}',
      'queue_name channel_pid consumer_tag ack_required prefetch_count active arguments',
      'exclusive activity_status',
    ),
    list(
      'list_connections',
      'connections',
      'name user peer_host peer_port state',
      'host port vhost channels ssl ssl_protocol protocol auth_mechanism timeout frame_max channel_max ' +
        'client_properties recv_oct recv_cnt send_oct send_cnt send_pend connected_at',
    ),
    list(
      'list_channels',
      'channels',
      'name user consumer_count messages_unacknowledged',
      'number connection vhost confirm transactional messages_unconfirmed messages_uncommitted acks_uncommitted ' +
        'prefetch_count global_prefetch_count state',
    ),
  ],
  'Queues and connections': [
    row('delete_queue <queue>', 'Delete a queue', 'DELETE queues/{vhost}/{queue}', 'queue {queue}', {
      options: [
        ['-e, --if-empty', 'only if it has no messages'],
        ['-u, --if-unused', 'only if it has no consumers'],
      ],
      query: { ifEmpty: 'if-empty', ifUnused: 'if-unused' },
    }),
    row('purge_queue <queue>', 'Remove the ready messages', 'DELETE queues/{vhost}/{queue}/contents', 'queue {queue}', {
      done: 'purged',
    }),
    row('close_connection <name> [reason]', 'Close it', 'DELETE connections/{name}', 'connection {name}', {
      // A header is one line of plain characters: others would be refused before they are sent.
      headers: ({ reason = '' }) => ({ 'x-reason': String(reason).replace(/[^\u0020-\u007e\u00a0-\u00ff]/g, '?') }),
    }),
  ],
  Users: [
    { command: 'add_user <user> [password]', about: 'Add a user; the password may be on standard input', run: addUser },
    {
      command: 'change_password <user> [password]',
      about: 'Change it; it may be on standard input',
      run: changePassword,
    },
    {
      command: 'set_user_tags <user> [tags...]',
      about: 'Set the tags, such as administrator, monitoring',
      run: setTags,
    },
    row('delete_user <user>', 'Delete a user', 'DELETE users/{user}', 'user {user}'),
    list('list_users', 'users', 'name tags'),
    ...permissions('permissions', 'configure', ''),
    ...permissions('topic_permissions', 'exchange', ' [exchange]'),
    { command: 'set_user_limits <user> <definition>', about: 'Set max-connections, max-channels', run: setUserLimits },
    row('clear_user_limits <user> <limit>', 'Remove one, or all', 'DELETE user-limits/{user}/{limit}', 'limit {limit}'),
    list('list_user_limits <user>', 'user-limits/{user}', 'user limits'),
  ],
  'Virtual hosts': [
    {
      command: 'add_vhost <vhost>',
      about: 'Add a virtual host',
      options: [
        ['--description <TEXT>', 'what it is for'],
        ['--tags <TAGS>', 'separated by commas'],
        ['--default-queue-type <TYPE>', 'of queues that are declared without a type: classic or quorum'],
      ],
      run: addVhost,
    },
    row('delete_vhost <vhost>', 'Delete it with all it holds', 'DELETE vhosts/{vhost}', 'vhost {vhost}'),
    list('list_vhosts', 'vhosts', 'name', 'description tags default_queue_type tracing cluster_state'),
    row('set_vhost_limits <definition>', 'Set max-connections, max-queues', `PUT ${vhostLimits}`, 'limits', {
      body: (given) => ({ value: json(given, 'definition') }),
    }),
    row('clear_vhost_limits', 'Remove the limits', `DELETE ${vhostLimits}`, 'limits'),
    list('list_vhost_limits', 'vhost-limits/{vhost}', 'vhost limits'),
  ],
  'Parameters and definitions': [
    row('set_parameter <component> <name> <value>', 'Set it', 'PUT parameters/{component}/{vhost}/{name}', parameter, {
      body: (given) => ({ value: json(given, 'value') }),
    }),
    row('clear_parameter <component> <name>', 'Remove it', 'DELETE parameters/{component}/{vhost}/{name}', parameter),
    list('list_parameters', 'parameters', 'component name value', '', {
      only: (one, given) => one['vhost'] === given['vhost'],
    }),
    {
      command: 'export_definitions <file>',
      about: 'Write them to a file, or with - to standard output',
      run: exportTo,
    },
    {
      command: 'import_definitions [file]',
      about: 'Read a file, or standard input; other objects stay',
      run: importFrom,
    },
  ],
  Broker: [
    { command: 'ping', about: 'Check that the broker answers and knows the user', run: ping },
    { command: 'status', about: 'Show version, alarms, memory, disk, totals and listeners', run: status },
  ],
};

/** @throws CommandError */
function priorityOf({ priority = '0' }: Given): number {
  if (/^-?\d{1,15}$/.test(String(priority))) return Number(priority);
  throw new CommandError(`--priority must be a whole number, but is '${String(priority)}'`, exit.usage);
}

async function addUser(given: Given, api: Api, stdin: () => Promise<string>): Promise<string> {
  const { body: users } = await request(api, 'GET users', given);
  if (!Array.isArray(users)) throw api.foreign();
  const name = String(given['user']);
  if ((users as Facts[]).some((user) => user['name'] === name)) {
    const text = `user '${name}' exists already; 'dlx-broker ctl change_password' changes its password`;
    throw new CommandError(text, exit.data);
  }
  const body = { password: await passwordOf(given['password'], stdin), tags: '' };
  await request(api, 'PUT users/{user}', given, { body });
  return `user '${name}': set; 'dlx-broker ctl set_permissions' gives it access to a vhost`;
}

async function changePassword(given: Given, api: Api, stdin: () => Promise<string>): Promise<void> {
  const { tags } = await get(api, 'users/{user}', given);
  const body = { tags, password: await passwordOf(given['password'], stdin) };
  await request(api, 'PUT users/{user}', given, { body });
}

async function setTags(given: Given, api: Api): Promise<void> {
  const { password_hash, hashing_algorithm } = await get(api, 'users/{user}', given);
  const body = { password_hash, hashing_algorithm, tags: given['tags'] };
  await request(api, 'PUT users/{user}', given, { body });
}

async function setUserLimits(given: Given, api: Api): Promise<void> {
  for (const [limit, value] of Object.entries(Object(json(given, 'definition')) as Facts))
    await request(api, 'PUT user-limits/{user}/{limit}', { ...given, limit }, { body: { value } });
}

async function ping(given: Given, api: Api): Promise<string> {
  await get(api, 'whoami', given);
  return 'the broker answers';
}

async function addVhost(given: Given, api: Api): Promise<void> {
  const { description, tags, defaultQueueType: type } = given;
  await request(api, 'PUT vhosts/{vhost}', given, { body: { description, tags, default_queue_type: type } });
  if (type === undefined || (await get(api, 'vhosts/{vhost}', given))['default_queue_type'] === type) return;
  // RabbitMQ 3.10 ignores the type over HTTP without an error.
  const text = `the vhost is there, but without the default queue type '${String(type)}': this broker cannot set it over HTTP`;
  throw new CommandError(text, exit.unavailable);
}

async function exportTo(given: Given, api: Api): Promise<Facts | void> {
  const file = String(given['file']);
  const definitions = await get(api, 'definitions', given);
  if (file === '-') return definitions;
  try {
    // They hold the hashes of passwords.
    writeFileSync(file, `${JSON.stringify(definitions)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new CommandError(`'${file}' cannot be written: ${(error as Error).message}`, exit.data);
  }
}

async function importFrom(given: Given, api: Api, stdin: () => Promise<string>): Promise<void> {
  const file = String(given['file'] ?? '-');
  let body: unknown;
  try {
    body = JSON.parse(file === '-' ? await stdin() : readFileSync(file, 'utf8'));
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    throw new CommandError(`${file === '-' ? 'standard input' : `'${file}'`} cannot be read: ${why}`, exit.data);
  }
  await request(api, 'POST definitions', given, { body });
}
