import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import amqplib from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DefinitionsFlags, writeDefinitions } from '../../libs/dlx-broker/src/cli/definitions/index.js';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';

const real = process.env['RABBITMQ_MANAGEMENT_URL'];
const amqp = process.env['AMQP_URL'];
const isReal = real !== undefined && amqp !== undefined;
if (!isReal) console.warn('SKIPPED: definitions for RabbitMQ: no RABBITMQ_MANAGEMENT_URL and AMQP_URL');

const id = `dlx-for-${randomBytes(4).toString('hex')}`;
const vhost = `${id}-ü`;
const user = `${id}-ada`;
const password = 'pässword "1"';
const folder = mkdtempSync(join(tmpdir(), 'definitions-'));
const loopback = { host: '127.0.0.1', port: 0 };
const all = { configure: '.*', write: '.*', read: '.*' };

const queues: readonly (readonly [string, amqplib.Options.AssertQueue])[] = [
  ['work', { arguments: { 'x-dead-letter-exchange': 'dlx', 'x-max-priority': 5 } }],
  ['lazy', { arguments: { 'x-queue-mode': 'lazy' } }],
  ['short', { arguments: { 'x-max-length': 3, 'x-dead-letter-exchange': 'dlx' } }],
  [
    'refusing',
    { arguments: { 'x-max-length': 3, 'x-overflow': 'reject-publish-dlx', 'x-dead-letter-exchange': 'dlx' } },
  ],
  ['leased', { arguments: { 'x-expires': 3_600_000 } }],
  ['fleeting', { durable: false, autoDelete: true }],
  ['transient', { durable: false }],
  ['dead ü', {}],
  ['quorum', { arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 3 } }],
];

async function furnish(port: number): Promise<void> {
  const connection = await amqplib.connect({ hostname: '127.0.0.1', port, username: user, password, vhost });
  const channel = await connection.createChannel();
  await channel.assertExchange('dlx', 'fanout');
  await channel.assertExchange('orders', 'topic');
  await channel.assertExchange('orders.delayed', 'x-delayed-message', { arguments: { 'x-delayed-type': 'topic' } });
  for (const [name, options] of queues) await channel.assertQueue(name, options);
  await channel.bindQueue('dead ü', 'dlx', '');
  await channel.bindQueue('work', 'orders', 'order.#');
  await channel.bindQueue('work', 'orders.delayed', 'order.#');
  await channel.bindExchange('orders', 'orders.delayed', '#');
  await connection.close();
}

/** What the command writes, and says. */
async function run(flags: Partial<DefinitionsFlags>, url?: string) {
  const out: string[] = [];
  const errors: string[] = [];
  const env = url === undefined ? {} : { DLX_BROKER_URL: url, DLX_BROKER_USER: user, DLX_BROKER_PASSWORD: password };
  const output = { env, out: (text: string) => void out.push(text), error: (text: string) => void errors.push(text) };
  await writeDefinitions({ for: 'rabbitmq', ...flags }, output);
  return { text: out.join('\n'), errors };
}

let served: Served;
let url: string;
beforeAll(async () => {
  served = await serve({
    amqp: loopback,
    http: loopback,
    data: { directory: join(folder, 'data'), durability: 'none' },
    virtualHosts: [vhost],
    users: [{ name: user, password, tags: ['administrator'], permissions: { [vhost]: all } }],
  });
  url = `http://127.0.0.1:${served.http?.port}`;
  await furnish(served.amqp.port);
});
afterAll(async () => {
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The default virtual host is another's on a real broker. */
const ours = (text: string): Record<string, unknown> => {
  const definitions = JSON.parse(text) as Record<string, readonly Record<string, unknown>[]>;
  return { ...definitions, vhosts: definitions['vhosts']?.filter(({ name }) => name === vhost) };
};

const typesIn = (definitions: unknown): Record<string, unknown> =>
  Object.fromEntries(
    (definitions as { queues: { name: string; arguments: Record<string, unknown> }[] }).queues.map((queue) => [
      queue.name,
      queue.arguments['x-queue-type'] ?? 'classic',
    ]),
  );

const quorumNames = ['work', 'lazy', 'short', 'refusing', 'dead ü', 'quorum'];
const expectedTypes = Object.fromEntries(
  queues.map(([name]) => [name, quorumNames.includes(name) ? 'quorum' : 'classic']),
);

describe('dlx-broker definitions --for rabbitmq', () => {
  it('writes them from a running server, and says what is not as it was', async () => {
    const { text, errors } = await run({ quorum: true }, url);
    expect(text).not.toContain('x-delayed-message');
    expect(typesIn(JSON.parse(text))).toEqual(expectedTypes);
    expect(errors).toHaveLength(9);
    expect(errors.join('\n')).toMatch(/exchange 'orders.delayed' in vhost '.*' is left out with 2 bindings/);
  });

  it('writes the same from the data directory, to a file that only its owner can read', async () => {
    const { text } = await run({ quorum: '^(work|short)$' }, url);
    expect(typesIn(JSON.parse(text))).toMatchObject({ work: 'quorum', short: 'quorum', lazy: 'classic' });
    const transient = new Set(queues.filter(([, { durable }]) => durable === false).map(([name]) => name));
    const directory = join(folder, 'data');
    await served.close();
    const file = join(folder, 'out.json');
    const { text: none } = await run({ data: directory, quorum: '^(work|short)$', output: file });
    expect(none).toBe('');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const live = JSON.parse(text) as Record<string, { name?: string; destination?: string }[]>;
    expect(kept).toEqual({ ...live, queues: live['queues']?.filter(({ name }) => !transient.has(name ?? '')) });
    served = await serve({ amqp: loopback, http: loopback, data: { directory, durability: 'none' } });
    await furnish(served.amqp.port);
    url = `http://127.0.0.1:${served.http?.port}`;
  });

  it.each<[Partial<DefinitionsFlags>, string]>([
    [{ for: 'activemq' }, "--for must be rabbitmq, but is 'activemq'"],
    [{ deliveryLimit: '5' }, '--delivery-limit is about the queues that --quorum converts'],
    [{ quorum: true, deliveryLimit: '-1' }, '--delivery-limit must be a whole number'],
    [{ quorum: '(' }, '--quorum is no pattern of names'],
    [{ data: '' }, '--data must name a directory'],
    [{ data: '/nowhere', url: 'http://127.0.0.1:1' }, '--url is about a running server'],
  ])('refuses %j', async (flags, why) => {
    await expect(run(flags)).rejects.toThrow(why);
  });

  it('ends with 69 when the server cannot be reached', async () => {
    await expect(run({ url: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      code: 69,
      message: expect.stringContaining('connection refused'),
    });
  });
});

describe.skipIf(!isReal)('RabbitMQ', () => {
  const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
  const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(`${new URL(real as string).origin}/api${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const clear = async (): Promise<void> => {
    await call('DELETE', `/vhosts/${encodeURIComponent(vhost)}`);
    await call('DELETE', `/users/${user}`);
  };
  afterAll(clear);

  it('refuses the export as it is, half-way', async () => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const plain = await (await fetch(`${url}/api/definitions`, { headers: { authorization } })).text();
    expect((await call('POST', '/definitions', ours(plain))).status).toBe(400);
    await clear();
  });

  it('imports them twice, lets the user log in, and finds every queue as it is declared then', async () => {
    const { text } = await run({ quorum: true }, url);
    const definitions = ours(text);
    for (let round = 0; round < 2; round += 1)
      expect(await call('POST', '/definitions', definitions)).toEqual({ status: 204, body: undefined });
    const found = (await call('GET', `/definitions/${encodeURIComponent(vhost)}`)).body as Record<string, unknown>;
    expect(typesIn(found)).toEqual(expectedTypes);
    for (const kind of ['queues', 'exchanges', 'bindings']) expect(rows(found[kind])).toEqual(rows(definitions[kind]));
    const { hostname, port } = new URL(amqp as string);
    const connection = await amqplib.connect({ hostname, port: Number(port), username: user, password, vhost });
    const channel = await connection.createConfirmChannel();
    channel.publish('orders', 'order.created', Buffer.from('one'), { persistent: true });
    await channel.waitForConfirms();
    channel.reject((await channel.get('work')) as amqplib.GetMessage, false);
    await expect.poll(async () => (await channel.checkQueue('dead ü')).messageCount).toBe(1);
    await connection.close();
  });
});

/** In whatever order, and without the virtual host. */
const rows = (list: unknown): string[] =>
  (list as Record<string, unknown>[]).map((row) => JSON.stringify(sorted({ ...row, vhost }))).sort();

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sorted(each)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
