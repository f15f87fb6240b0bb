import { type Api, reasonOf } from '../api.js';
import type { Answer, Command, Input } from '../command.js';
import { badArgument, CtlFailure, exit, noSuchUser, refused } from '../exit.js';
import type { Row } from '../columns/column.js';
import { Names } from '../format/cell.js';
import { fixedListing } from '../listing.js';
import { passwordOf } from '../password.js';

const group = 'Users';
const noUser = (name: string): CtlFailure =>
  refused(exit.noUser, `User "${name}" does not exist`, `User ${name} does not exists`);

/** The properties of a user besides the password, to be sent back unchanged. */
const rest = ({ tags }: Row): Row => ({ tags: Array.isArray(tags) ? tags : [] });
const passwordIn = ({ password_hash, hashing_algorithm }: Row): Row => ({ password_hash, hashing_algorithm });

async function add(input: Input, api: Api): Promise<Answer> {
  const [name = ''] = input.args;
  const password = await passwordOf(input, 1, exit.data);
  if ((await api.find('users', name)) !== undefined) {
    throw refused(exit.software, `User "${name}" already exists`, `User ${name} already exists`);
  }
  await api.put(['users', name], { password, tags: '' });
  return {
    note:
      "Done. Don't forget to grant the user permissions to some virtual hosts! " +
      "See 'dlx-broker ctl help set_permissions' to learn more.",
  };
}

async function changePassword(input: Input, api: Api): Promise<undefined> {
  const [name = ''] = input.args;
  const password = await passwordOf(input, 1, exit.software);
  const user = await api.find('users', name);
  if (user === undefined) throw noUser(name);
  return api.put(['users', name], { ...rest(user), password });
}

async function clearPassword({ args: [name = ''] }: Input, api: Api): Promise<undefined> {
  const user = await api.find('users', name);
  if (user === undefined) throw noSuchUser(name);
  return api.put(['users', name], { ...rest(user), password_hash: '' });
}

async function setTags({ args: [name = '', ...tags] }: Input, api: Api): Promise<undefined> {
  const user = name === '' ? undefined : await api.find('users', name);
  if (user === undefined) throw noUser(name);
  return api.put(['users', name], { ...passwordIn(user), tags });
}

const blank = (name: string): string =>
  `user '${name}' attempted to log in with a blank password, which is prohibited by the internal authN backend. ` +
  'To use TLS/x509 certificate-based authentication, see the rabbitmq_auth_mechanism_ssl plugin and configure the ' +
  'client to use the EXTERNAL authentication mechanism. Alternatively change the password for the user to be non-blank.';

/**
 * Logs in as another user. The answer 401 for a user without access to the management API means that the password was
 * right.
 */
async function authenticate(input: Input, api: Api): Promise<Answer> {
  const [user = ''] = input.args;
  const password = await passwordOf(input, 1, exit.software);
  const failed = (why: string): CtlFailure =>
    refused(exit.data, `Error: failed to authenticate user "${user}"\n${why}`);
  if (password === '') throw failed(blank(user));
  const { status, body } = await api.send('GET', ['whoami'], {}, { user, password });
  const reason = reasonOf(body);
  if (status === 200 || (status === 401 && reason === 'Not management user')) return { message: 'Success' };
  if (status === 401) throw failed(`user '${user}' - invalid credentials`);
  throw refused(exit.unavailable, reason ?? `it answers ${status}`);
}

async function list(_input: Input, api: Api): Promise<Answer> {
  const users = (await api.list('users')) ?? [];
  const rows = users.map(({ name, tags }) => [String(name), new Names(Array.isArray(tags) ? tags.map(String) : [])]);
  return fixedListing(['user', 'tags'], rows);
}

export const userCommands: readonly Command[] = [
  {
    name: 'add_user',
    group,
    usage: '<username> <password>',
    description: 'Makes a user without access to any virtual host',
    takes: [1, 2],
    secret: 1,
    check({ args: [name] }) {
      if (name === '') throw badArgument('user cannot be an empty string');
    },
    banner: ({ args: [name] }) => `Adding user "${name}" ...`,
    run: add,
  },
  {
    name: 'delete_user',
    group,
    usage: '<username>',
    description: 'Deletes a user',
    takes: [1, 1],
    banner: ({ args: [name] }) => `Deleting user "${name}" ...`,
    run: ({ args: [name = ''] }, api) => api.remove(['users', name], noUser(name)),
  },
  {
    name: 'change_password',
    group,
    usage: '<username> <password>',
    description: 'Changes the password of a user',
    takes: [1, 2],
    secret: 1,
    banner: ({ args: [name] }) => `Changing password for user "${name}" ...`,
    run: changePassword,
  },
  {
    name: 'clear_password',
    group,
    usage: '<username>',
    description: 'Removes the password of a user, who then cannot log in with a password',
    takes: [1, 1],
    banner: ({ args: [name] }) => `Clearing password for user "${name}" ...`,
    run: clearPassword,
  },
  {
    name: 'authenticate_user',
    group,
    usage: '<username> <password>',
    description: 'Checks whether a user can log in',
    takes: [1, 2],
    secret: 1,
    banner: ({ args: [name] }) => `Authenticating user "${name}" ...`,
    run: authenticate,
  },
  {
    name: 'set_user_tags',
    group,
    usage: '<username> <tag> [...]',
    description: 'Sets the tags of a user: administrator, monitoring, policymaker, management',
    takes: [1, Infinity],
    banner: ({ args: [name, ...tags] }) => `Setting tags for user "${name}" to [${tags.join(', ')}] ...`,
    run: setTags,
  },
  {
    name: 'list_users',
    group,
    usage: '[--no-table-headers] [--timeout <timeout>]',
    description: 'Lists users and their tags',
    takes: [0, 0],
    banner: () => 'Listing users ...',
    run: list,
  },
];
