import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { serve } from '../../libs/dlx-broker/src/serve.js';
import { client, ours, type Target } from './target.js';

const folder = mkdtempSync(join(tmpdir(), 'ctl-'));
const open = () => serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
const brokers = await Promise.all([open(), open()]);
const [one, other] = brokers.map(({ amqp, http }, at) =>
  ours(`broker ${at}`, `http://127.0.0.1:${http?.port}`, `amqp://127.0.0.1:${amqp.port}`),
) as [Target, Target];
afterAll(async () => {
  await Promise.all(brokers.map((broker) => broker.close()));
  rmSync(folder, { recursive: true });
});
const run = (words: string, stdin?: string) => one.run(words.split(' '), stdin);

describe('ctl', () => {
  it('says what to do when the address is that of AMQP', async () => {
    const url = `http://127.0.0.1:${brokers[0]!.amqp.port}`;
    const { code, errors } = await run(`list_queues --url ${url}`);
    expect(code).toBe(69);
    expect(errors).toContain(`'${url}': its answer is not HTTP; name the port of the management API, not that of AMQP`);
  });

  it('carries definitions from one broker to another, passwords included', async () => {
    const file = join(folder, 'definitions.json');
    await run('add_user ada geheim -q');
    await run('add_vhost shop -q');
    await run('set_policy -q -p shop DLX .* {"dead-letter-exchange":"dlx"}');
    expect(await run(`export_definitions ${file}`)).toEqual({
      code: 0,
      out: `Exporting definitions in JSON to a file at "${file}" ...\n`,
      errors: '',
    });
    // Only the owner may read the hashes of passwords.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run('export_definitions -')).out).toBe(`${readFileSync(file, 'utf8')}\n`);
    expect(await other.run(['import_definitions', '-q'], readFileSync(file, 'utf8'))).toEqual({
      code: 0,
      out: '',
      errors: '',
    });
    expect((await other.run(['authenticate_user', '-q', 'ada', 'geheim'])).out).toBe('Success\n');
    expect((await other.run(['list_policies', '-s', '-p', 'shop'])).out).toBe(
      'shop\tDLX\t.*\tall\t{"dead-letter-exchange":"dlx"}\t0\n',
    );
  });

  it.each<[string, number, string]>([
    ['export_definitions /nowhere/to/be/found', 65, 'Bad argument: Directory /nowhere/to/be does not exist'],
    ['export_definitions - --format erlang', 65, 'JSON only'],
    ['import_definitions /nowhere', 65, 'Bad argument: File /nowhere does not exist'],
    ['import_definitions /', 65, 'File / cannot be read: EISDIR'],
    ['list_queues -t -1', 64, 'Invalid options for this command:\n--timeout : -1'],
    ['list_queues --formatter erlang', 64, 'terms of Erlang are not written here'],
    ['list_queues --formatter __proto__', 64, 'it is not known'],
    ['list_queues -n rabbit@host', 64, 'there are no Erlang nodes here: use --url instead of --node'],
    ['join_cluster rabbit@host', 64, "command 'join_cluster' of rabbitmqctl is about Erlang nodes"],
    ['list_queues -t 0', 75, 'operation list_queues on'],
    ['list_queues --url http://127.0.0.1:1', 69, "on 'http://127.0.0.1:1': connection refused"],
    ['await_startup -t 0 --url http://127.0.0.1:1', 75, 'operation await_startup on'],
    ['list_queues --user guest --password geheim', 69, "Login failed (user 'guest')"],
    ['list_queues --url http://broker.example', 64, 'who asks http://broker.example?'],
    ['close_connection nobody why', 69, "no connection is called 'nobody'"],
    ['check_running', 64, "Command 'check_running' not found."],
    ['queues list', 64, "Command 'queues' not found. \nDid you mean 'list_queues'? \n"],
    ['list queues', 64, "Command 'list' not found. \nDid you mean 'list_queues'? \n"],
    ['policy set p . {}', 64, "Did you mean 'set_policy'?"],
    ['user ada', 64, 'Available commands:'],
  ])('refuses %s with %i', async (words, code, text) => {
    const refused = await run(words);
    expect(refused.code).toBe(code);
    expect(refused.errors).toContain(text);
    expect(refused.errors).not.toContain('geheim');
  });

  it.each([
    ['ping', 60_000],
    ['await_startup', 300_000],
    ['list_queues', 60_000],
    ['list_queues -t 7', 7_000],
    // Longer than a timer of Node can be.
    ['list_queues -t 5000000', 2_147_483_647],
  ])('limits the time of an answer to %s as it says, to %i ms', async (words, limit) => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    try {
      expect(await run(words)).toMatchObject({ code: 0, errors: '' });
      expect(limits.mock.calls).toEqual([[limit]]);
    } finally {
      limits.mockRestore();
    }
  });

  it.each(['status', 'list_users', 'list_vhosts', 'add_user ada secret', 'delete_queue orders'])(
    'says in %s that the other side is no management API',
    async (words) => {
      const server = createServer((_, response) => response.end('<html>'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      try {
        const { code, errors } = await run(`${words} --url ${url}`);
        expect([code, errors]).toEqual([
          69,
          `Error: unable to perform an operation on '${url}': its answer is not that of a management API\n`,
        ]);
      } finally {
        server.close();
      }
    },
  );

  it('closes the connection that list_connections names, and tells it why', async () => {
    const [connection] = await client(one, '/', 'till');
    const ended = new Promise<Error>((resolve) => connection.once('close', resolve));
    const [pid = ''] = (await run('list_connections -s pid')).out.split('\n');
    expect((await one.run(['close_connection', pid, 'shop is closing'])).code).toBe(0);
    expect((await ended).message).toContain('CONNECTION_FORCED - shop is closing');
    expect((await run('list_connections')).out).toBe('Listing connections ...\n');
  });

  it('makes no virtual host whose queues would be streams', async () => {
    expect(await run('add_vhost -q rivers --default-queue-type stream')).toEqual({
      code: 69,
      out: '',
      errors: "Error:\nunsupported queue type 'stream'\n",
    });
    expect((await run('list_vhosts -s name')).out).not.toContain('rivers');
  });

  it('sets, lists and clears the limits of users', async () => {
    await run('add_user lim geheim -q');
    expect(await one.run(['set_user_limits', 'lim', '{"max-channels": 5, "max-connections": 2}'])).toEqual({
      code: 0,
      out: 'Setting user limits to "{"max-channels": 5, "max-connections": 2}" for user "lim" ...\n',
      errors: '',
    });
    expect((await run('list_user_limits lim')).out).toBe(
      'Listing limits for user "lim" ...\n{"max-channels":5,"max-connections":2}\n',
    );
    expect((await run('list_user_limits --global -s')).out).toBe('lim\t{"max-channels":5,"max-connections":2}\n');
    // One that is wrong leaves the others as they were, in whatever order they stand.
    const wrong = await one.run(['set_user_limits', '-q', 'lim', '{"max-channels": 9, "max-connections": "x"}']);
    expect([wrong.code, wrong.errors]).toEqual([
      69,
      'Error:\nmax-connections should be a number, actually was <<"x">>\n',
    ]);
    expect((await run('list_user_limits -s lim')).out).toBe('{"max-channels":5,"max-connections":2}\n');
    expect((await run('clear_user_limits lim max-channels')).out).toBe(
      'Clearing "max-channels" limit for user "lim" ...\n',
    );
    expect((await run('list_user_limits -s lim')).out).toBe('{"max-connections":2}\n');
    expect((await run('clear_user_limits lim all')).out).toBe('Clearing all limits for user "lim" ...\n');
    expect((await run('list_user_limits -s lim')).out).toBe('{}\n');
    expect((await run('list_user_limits lim --formatter json')).out).toBe('{"message":"{}"}\n');
    const missing = { code: 69, out: '', errors: 'Error:\n{:no_such_user, "gone"}\n' };
    expect(await run('list_user_limits -q gone')).toEqual(missing);
    await run('delete_user lim -q');
  });

  it('tells how the broker fares', async () => {
    const { out } = await run('status');
    const { version } = JSON.parse(readFileSync('libs/dlx-broker/package.json', 'utf8')) as { version: string };
    for (const line of ['RabbitMQ version: 3.10.8', 'Product: dlx-broker', `Product version: ${version}`]) {
      expect(out.split('\n')).toContain(line);
    }
    for (const title of ['Runtime', 'Alarms', 'Memory', 'Totals', 'Listeners']) expect(out).toContain(title);
    expect(out).toContain(`port: ${brokers[0]?.amqp.port}, protocol: amqp`);
    expect(JSON.parse((await run('status --formatter json')).out)).toMatchObject({ object_totals: { connections: 0 } });
    expect((await run('ping -q')).out).toBe('Ping succeeded\n');
  });

  it('explains each of its commands', async () => {
    const { out } = await run('help');
    const names = [...out.matchAll(/^ {3}([a-z_]+) /gm)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(50);
    for (const name of names.filter((each) => each !== 'help' && each !== 'version')) {
      expect((await run(`help ${name}`)).out).toContain(`ctl [--url <url>] [--user <user>] [--password <password>]`);
      expect((await run(`${name} --help`)).out).toContain(` ${name}`);
    }
  });
});
