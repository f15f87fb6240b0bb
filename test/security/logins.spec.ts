import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { attempt } from '../contract/contract.js';
import { WireConnection } from '../contract/wire/connection.js';

const everything = { '/': { configure: '.*', write: '.*', read: '.*' } };

describe('a stranger without credentials', () => {
  let served: Served;
  let lines: string[];
  let waiting = 0;
  beforeEach(async () => {
    lines = [];
    served = await serve({
      amqp: { host: '127.0.0.1', port: 0 },
      http: { host: '127.0.0.1', port: 0 },
      limits: { silence: 10 },
      users: [{ name: 'operator', password: 'right', tags: ['administrator'], permissions: everything }],
      notice: (text) => void lines.push(text),
    });
  });
  afterEach(() => served.close());

  const authorization = (user: string, password: string): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const http = async (user: string, password: string): Promise<number> => {
    const url = `http://127.0.0.1:${served.http?.port}/api/whoami`;
    return (await fetch(url, { headers: { authorization: authorization(user, password) } })).status;
  };
  const amqp = (user: string, password: string): Promise<unknown> =>
    attempt(
      WireConnection.open({ host: '127.0.0.1', port: served.amqp.port, vhost: '/', user, password }).then(
        (connection) => connection.drop(),
      ),
    );
  /** Whether it is over before a login that has to wait a second for its turn. */
  const isAtOnce = async (act: () => Promise<unknown>): Promise<boolean> => {
    const user = `waiting-${++waiting}`;
    for (let count = 0; count < 5; count++) await http(user, 'wrong');
    let isOver = false;
    const slow = http(user, 'wrong').then(() => (isOver = true));
    await act();
    const wasFirst = !isOver;
    await slow;
    return wasFirst;
  };

  it('locks no user out by fifty bad logins of made-up names, at either port', async () => {
    for (let count = 0; count < 25; count++) await http(`user-${count}`, 'wrong');
    for (let count = 25; count < 50; count++) await amqp(`user-${count}`, 'wrong');
    const atBoth = async (): Promise<void> => {
      expect(await Promise.all([http('operator', 'right'), amqp('operator', 'right')])).toEqual([200, 'ok']);
    };
    expect(await isAtOnce(atBoth)).toBe(true);
  }, 15_000);

  it('who guesses at the operator delays the operator at this address by a moment, and then no more', async () => {
    for (let count = 0; count < 5; count++) await http('operator', 'wrong');
    const guesses = Array.from({ length: 3 }, () => http('operator', 'wrong'));
    expect(await amqp('operator', 'right')).toBe('ok');
    await Promise.all(guesses);
    expect(await isAtOnce(async () => expect(await http('operator', 'right')).toBe(200))).toBe(true);
  }, 15_000);

  it('gets two hundred wrong answers at once from nowhere, and the event loop is free meanwhile', async () => {
    const guesses = Array.from({ length: 200 }, (_, count) => http('operator', `wrong ${count}`));
    const before = process.cpuUsage();
    const status = http('other', 'x');
    expect(await status).toBe(401);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(2_000);
    const answers = await Promise.all(guesses);
    // Five at once, one a second behind them, and what is too much for the waiting room is refused unseen.
    expect(answers.every((answer) => answer === 401 || answer === 429)).toBe(true);
    expect(answers.filter((answer) => answer === 429).length).toBeGreaterThan(100);
  }, 15_000);

  it('may try before the user exists: a moment later the same client is in at once', async () => {
    for (let count = 0; count < 5; count++) await amqp('late', 'soon');
    served.broker.access.setUser('late', { passwordHash: served.broker.access.user('operator')?.passwordHash });
    served.broker.access.setPermissions('late', '/', everything['/']);
    expect(await isAtOnce(async () => expect(await amqp('late', 'right')).toBe('ok'))).toBe(true);
  });

  it('is reported in few lines, from both ports', async () => {
    for (let count = 0; count < 30; count++) await http(`\u001b[2J${count}`, 'secret');
    await amqp('x'.repeat(200), 'secret');
    expect(lines.filter((line) => line.startsWith('HTTP login refused'))).toHaveLength(10);
    expect(lines.filter((line) => line.startsWith('PLAIN login refused'))).toHaveLength(1);
    for (const part of ['secret', '\u001b']) expect(lines.join('')).not.toContain(part);
  });
});
