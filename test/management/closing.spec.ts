import { connect } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { policyPatterns, randomNames, SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { Listeners } from '../../libs/dlx-broker/src/server/serve/listeners.js';
import { addUsers, guestOf } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { type Harness, openHouse } from './harness.js';
import { request } from './scene.js';

describe('an operator closes connections', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHouse();
  });
  afterAll(() => harness.close());

  /** What a client hears in the end. */
  async function client(): Promise<Promise<string>> {
    const connection = await connect(`${harness.amqp}/%2F`);
    return new Promise<string>((resolve) => connection.on('close', (error: Error) => resolve(error.message)));
  }

  const heard = (reason: string): string =>
    `Connection closed: 320 (CONNECTION-FORCED) with message "CONNECTION_FORCED - ${reason}"`;

  it('one by its name, with the reason of X-Reason', async () => {
    const message = client();
    await expect.poll(async () => (await listed()).length).toBe(1);
    const [name = ''] = await listed();
    const response = await fetch(`${harness.http}/api/connections/${encodeURIComponent(name)}`, {
      method: 'DELETE',
      headers: { authorization: `Basic ${btoa('guest:guest')}`, 'x-reason': 'too many of them' },
    });
    expect(response.status).toBe(204);
    expect(await message).toBe(heard('too many of them'));
    await expect.poll(listed).toEqual([]);
  });

  it('all of a user', async () => {
    const messages = [client(), client()];
    await expect.poll(async () => (await listed()).length).toBe(2);
    expect((await request(harness, 'DELETE', '/api/connections/username/nobody')).status).toBe(204);
    expect(await listed()).toHaveLength(2);
    expect((await request(harness, 'DELETE', '/api/connections/username/guest')).status).toBe(204);
    expect(await Promise.all(messages)).toEqual([
      heard('Closed via management plugin'),
      heard('Closed via management plugin'),
    ]);
  });

  async function listed(): Promise<readonly string[]> {
    const { text } = await request(harness, 'GET', '/api/connections?columns=name');
    return (JSON.parse(text) as readonly { readonly name: string }[]).map(({ name }) => name);
  }
});

it('a broker that is closing its ports names those that are open', async () => {
  const broker = new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns });
  addUsers(broker, [guestOf('/')]);
  const listeners = new Listeners(broker, undefined, { amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
  await listeners.open();
  try {
    await listeners.amqp?.close();
    const answer = await fetch(`${listeners.http?.urls.api}/overview`, {
      headers: { authorization: `Basic ${btoa('guest:guest')}` },
    });
    expect(answer.status).toBe(200);
    const { listeners: named } = (await answer.json()) as { readonly listeners: readonly { protocol: string }[] };
    expect(named.map(({ protocol }) => protocol)).toEqual(['http']);
  } finally {
    await listeners.close();
    broker.close();
  }
});
