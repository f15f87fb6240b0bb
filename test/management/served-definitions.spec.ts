import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serve, type ServeOptions } from '../../libs/dlx-broker/src/server/serve/serve.js';

const folder = mkdtempSync(join(tmpdir(), 'served-definitions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const everything = { configure: '.*', write: '.*', read: '.*' };
const ada = { name: 'ada', tags: 'administrator', password: 'secret' };
const queue = { name: 'orders', vhost: '/', durable: true, auto_delete: false, arguments: {} };
const ofGuest = { user: 'guest', vhost: '/', configure: '', write: '', read: '.*' };

/** The names of the users after a start with these definitions, and the permissions of guest in `/`. */
async function started(definitions: unknown, options: ServeOptions = {}) {
  const amqp = { host: '127.0.0.1', port: 0 };
  const { broker, close } = await serve({ amqp, definitions: JSON.stringify(definitions), ...options });
  const users = broker.access.users().map(({ name }) => name);
  const guest = broker.access.permissions('guest', '/');
  await close();
  return { users, guest };
}

describe('serve with definitions', () => {
  it('has no guest beside the users that they name', async () => {
    expect(await started({ users: [ada], queues: [queue] })).toEqual({ users: ['ada'], guest: undefined });
  });

  it('has the guest that they name, without permissions of its own', async () => {
    const guest = { name: 'guest', tags: '', password: 'other' };
    expect(await started({ users: [guest] })).toEqual({ users: ['guest'], guest: undefined });
  });

  it.each<[string, unknown]>([
    ['no users', { queues: [queue] }],
    ['an empty list of users', { users: [] }],
  ])('has guest if they have %s', async (_, definitions) => {
    expect(await started(definitions)).toMatchObject({ users: ['guest'], guest: everything });
  });

  it('sets the permissions of guest that they name without a user', async () => {
    expect(await started({ permissions: [ofGuest] })).toMatchObject({ users: ['guest'], guest: ofGuest });
  });

  it('refuses permissions of guest if they name other users', async () => {
    await expect(started({ users: [ada], permissions: [ofGuest] })).rejects.toThrow('["no_such_user","guest"]');
  });

  it('adds no guest to the users of its options', async () => {
    expect((await started({ queues: [queue] }, { users: [{ name: 'bob', password: 'b' }] })).users).toEqual(['bob']);
  });

  it('adds no guest to the users of the data directory', async () => {
    const data = { directory: join(folder, 'data') };
    expect((await started({ users: [ada] }, { data })).users).toEqual(['ada']);
    expect((await started({ queues: [queue] }, { data })).users).toEqual(['ada']);
  });
});
