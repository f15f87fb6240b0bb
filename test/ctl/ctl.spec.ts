import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { afterAll, describe, expect, it } from 'vitest';
import { table } from '../../libs/dlx-broker/src/cli/ctl/table.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { read } from '../docs/pages.js';
import { commandsOf } from '../docs/shell.js';
import { runCtl } from './run.js';

const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 }, rabbitmq: '3.10' });
afterAll(() => served.close());

const brokers = [
  { name: 'our broker', url: `http://127.0.0.1:${served.http?.port}`, amqp: `amqp://127.0.0.1:${served.amqp.port}` },
  {
    name: 'RabbitMQ',
    url: process.env['RABBITMQ_MANAGEMENT_URL']?.replace(/\/\/.*@/, '//') ?? '',
    amqp: process.env['AMQP_URL'] ?? '',
  },
].filter(({ url, amqp }) => url !== '' && amqp !== '');

const folder = mkdtempSync(join(tmpdir(), 'ctl-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The lines of RabbitMQ's guides to dead lettering. V is the virtual host of a run, U a user of it. */
const guides: readonly string[] = [
  `rabbitmqctl set_policy DLX ".*" '{"dead-letter-exchange":"my-dlx"}' --apply-to queues`,
];
const onWindows = `rabbitmqctl set_policy DLX ".*" "{""dead-letter-exchange"":""my-dlx""}" --apply-to queues`;

/** The words that a program of Windows reads: "" inside quotes is a quote. */
const windowsWords = (line: string): string[] =>
  [...line.matchAll(/(?:"(?:[^"]|"")*"|[^\s"])+/g)].map(([word]) =>
    word.replace(/^"(.*)"$/, '$1').replaceAll('""', '"'),
  );

/** Command line, exit code, standard output (its lines in any order), and a part of standard error. */
type Case = readonly [line: string, code: number, out: string | RegExp, errors?: string];

/** In this order. RabbitMQ knows its numbers after seconds, so a list that does not fit yet is asked for again. */
const cases: readonly Case[] = [
  ['ping', 0, 'the broker answers\n'],
  ['status', 0, /^RabbitMQ version: \d.*\n(.*\n)*Node: .*\n(.*\n)*Memory: \d+ MB, limit \d+ MB\n/],
  ['status --json', 0, /^\{.*"rabbitmq_version":/],
  ['add_vhost V --description tea', 0, 'done\n'],
  ['list_vhosts name description --json', 0, /\{"name":"V","description":"tea"\}/],
  ['add_user U geheim', 0, "user 'U': set; 'dlx-broker ctl set_permissions' gives it access to a vhost\n"],
  ['add_user U geheim', 65, '', "user 'U' exists already; 'dlx-broker ctl change_password' changes its password"],
  ['set_user_tags U monitoring management', 0, 'done\n'],
  ['change_password U neu', 0, 'done\n'],
  ['change_password U', 64, '', 'the password is empty: write it behind the user, or to standard input'],
  ['list_users -s', 0, /^U\tmonitoring,management$/m],
  ['ping --user U --password neu', 0, 'the broker answers\n'],
  ['ping --user U --password geheim', 69, '', "Login failed (user 'U'); --user and --password name another one"],
  ['set_permissions -p V U ^a ^b ^c', 0, "permissions of user 'U' in vhost 'V': set\n"],
  ['set_permissions -p V guest .* .* .*', 0, "permissions of user 'guest' in vhost 'V': set\n"],
  ['list_permissions -p V -s', 0, 'U\t^a\t^b\t^c\nguest\t.*\t.*\t.*\n'],
  ['list_user_permissions U', 0, 'vhost\tconfigure\twrite\tread\nV\t^a\t^b\t^c\n'],
  ['set_permissions -p V U ( . .', 64, '', 'Error: invalid_regexp ( missing )'],
  ['set_permissions -p V Ugone . . .', 65, '', "no vhost 'V' or no user 'Ugone'; 'dlx-broker ctl list_vhosts' and"],
  ['set_topic_permissions -p V U amq.topic ^w ^r', 0, "topic permissions of user 'U' in vhost 'V': set\n"],
  ['list_topic_permissions -p V -s', 0, 'U\tamq.topic\t^w\t^r\n'],
  ['clear_topic_permissions -p V U amq.topic', 0, "topic permissions of user 'U' in vhost 'V': removed\n"],
  ['clear_permissions -p V U', 0, "permissions of user 'U' in vhost 'V': removed\n"],
  ['clear_permissions -p V U', 65, '', "no permissions of user 'U' in vhost 'V'; 'dlx-broker ctl list_permissions'"],
  [`set_user_limits U '{"max-channels":5,"max-connections":2}'`, 0, 'done\n'],
  ['list_user_limits U -s', 0, /^U\t\{"max-c.*\}\n$/],
  ['clear_user_limits U all', 0, "limit 'all': removed\n"],
  [`set_vhost_limits -p V '{"max-queues":9}'`, 0, "limits in vhost 'V': set\n"],
  ['list_vhost_limits -p V -s', 0, 'V\t{"max-queues":9}\n'],
  ['clear_vhost_limits -p V', 0, "limits in vhost 'V': removed\n"],
  ...guides.map((line): Case => [`${line.slice('rabbitmqctl '.length)} -p V`, 0, "policy 'DLX' in vhost 'V': set\n"]),
  ['list_policies -p V -s', 0, 'V\tDLX\t.*\tqueues\t{"dead-letter-exchange":"my-dlx"}\t0\n'],
  [`set_policy -p V short ^o '{"message-ttl":1}' --priority -3 -q`, 0, ''],
  [`set_policy -p V bad . '{"message-ttl":-1}'`, 64, '', 'Error: Validation failed: '],
  ['set_policy -p V bad . {ttl:1}', 64, '', `In a shell write '{"dead-letter-exchange":"my-dlx"}', in cmd.exe "{""`],
  ['set_policy -p V bad . {} --priority x', 64, '', "--priority must be a whole number, but is 'x'"],
  [
    `set_policy -p Vgone x . '{"max-length":1}'`,
    65,
    '',
    "no vhost 'Vgone'; 'dlx-broker ctl list_vhosts' shows what there",
  ],
  ['list_policies -p V name priority --json', 0, /\{"name":"short","priority":-3\}/],
  ['clear_policy -p V short', 0, "policy 'short' in vhost 'V': removed\n"],
  [
    'clear_policy -p V short',
    65,
    '',
    "no policy 'short' in vhost 'V'; 'dlx-broker ctl list_policies' shows what there",
  ],
  [`set_operator_policy -p V OP ^o '{"max-length":3}' --apply-to queues`, 0, "policy 'OP' in vhost 'V': set\n"],
  ['list_operator_policies -p V -s name', 0, 'OP\n'],
  ['clear_operator_policy -p V OP', 0, "policy 'OP' in vhost 'V': removed\n"],
  ['list_parameters -p V', 0, 'component\tname\tvalue\n'],
  ['set_parameter -p V none n {}', 64, '', 'Error: Validation failed: component none not found'],
  ['clear_parameter -p V none n', 65, '', "no parameter 'n' of 'none' in vhost 'V'"],
  ['list_queues -p V', 0, 'name\tmessages\norders\t2\n'],
  ['list_queues -p V -s name,policy type arguments', 0, 'orders\tDLX\tclassic\t{"x-max-length":9}\n'],
  ['list_queues -p V name nam', 64, '', "there is no column 'nam'; the columns are name, messages, type"],
  ['list_queues -p Vgone', 65, '', "there is no vhost 'Vgone'"],
  ['list_exchanges -p V -s name type', 0, /^ex\ttopic$/m],
  ['list_bindings -p V -s', 0, /^ex\torders\tqueue\ta\.#\t/m],
  ['list_consumers -p V -s queue_name consumer_tag ack_required', 0, 'orders\ttag\ttrue\n'],
  ['list_connections -s user vhost', 0, /^guest\tV$/m],
  ['list_channels -s vhost number user consumer_count', 0, /^V\t1\tguest\t1$/m],
  ['close_connection none why', 65, '', "no connection 'none'; 'dlx-broker ctl list_connections' shows what there is"],
  ['delete_queue -p V orders --if-empty', 64, '', 'not empty'],
  ['purge_queue -p V orders', 0, "queue 'orders' in vhost 'V': purged\n"],
  ['purge_queue -p V gone', 65, '', "no queue 'gone' in vhost 'V'; 'dlx-broker ctl list_queues' shows what there is"],
  ['delete_queue -p V orders', 0, "queue 'orders' in vhost 'V': removed\n"],
  ['export_definitions F', 0, 'done\n'],
  ['export_definitions -', 0, /^\{.*"policies":/],
  ['export_definitions F/no/such', 65, '', 'cannot be written: ENOTDIR'],
  ['import_definitions F/none', 65, '', 'cannot be read: ENOTDIR'],
  ['import_definitions', 65, '', 'standard input cannot be read: Unexpected end of JSON input'],
  ['delete_user U', 0, "user 'U': removed\n"],
  ['delete_user U', 65, '', "there is no user 'U'; 'dlx-broker ctl list_users' shows what there is"],
  ['delete_vhost V', 0, "vhost 'V': removed\n"],
];

describe.each(brokers)('ctl on $name', ({ url, amqp }) => {
  const made = `ctl-${process.pid}-${Date.now().toString(36)}`;
  const names: Readonly<Record<string, string>> = { V: `${made}-vhost`, U: `${made}-user`, F: join(folder, made) };
  const named = (text: string): string =>
    text.replace(/(?<![A-Z-])([VUF])(?=gone|[^A-Za-z]|$)/g, (_, one) => names[one]!);
  const run = (line: string) => runCtl(commandsOf(`ctl ${named(line)}`, false)[0]!.slice(1), { DLX_BROKER_URL: url });

  let connection: Awaited<ReturnType<typeof connect>> | undefined;
  /** What the lists show; opened before the first of them. */
  async function client(): Promise<void> {
    connection = await connect(`${amqp}/${encodeURIComponent(names['V']!)}`);
    connection.on('error', () => undefined);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('orders', { arguments: { 'x-max-length': 9 } });
    await channel.assertExchange('ex', 'topic');
    await channel.bindQueue('orders', 'ex', 'a.#');
    for (const body of ['one', 'two', 'three']) channel.sendToQueue('orders', Buffer.from(body), { persistent: true });
    await channel.waitForConfirms();
    await channel.get('orders', { noAck: true });
    await channel.prefetch(1);
    await channel.consume('orders', () => undefined, { consumerTag: 'tag' });
  }
  afterAll(() => connection?.close().catch(() => undefined));

  it.each(cases.map((one) => [one[0], one] as const))(
    '%s',
    { timeout: 40_000 },
    async (line, [, code, out, errors = '']) => {
      if (line === 'list_queues -p V') await client();
      const expected = {
        code,
        out: typeof out === 'string' ? named(out) : expect.stringMatching(new RegExp(named(out.source), out.flags)),
        errors: errors === '' ? '' : expect.stringContaining(named(errors)),
      };
      if (line.startsWith('list_'))
        await expect.poll(() => run(line), { timeout: 30_000, interval: 500 }).toEqual(expected);
      else expect(await run(line)).toEqual(expected);
    },
  );
});

const ours = (...words: readonly string[]) => runCtl(words, { DLX_BROKER_URL: brokers[0]!.url });

describe('ctl', () => {
  it('runs the lines of the guides word for word, also as Windows reads them', async () => {
    for (const line of guides)
      for (const words of [commandsOf(line, false)[0]!, windowsWords(onWindows)]) {
        const { code, out } = await ours(...words.slice(1));
        expect([code, out]).toEqual([0, "policy 'DLX' in vhost '/': set\n"]);
        expect(read('docs/reference/ctl.md')).toContain(`\n${out}`);
        expect((await ours('list_policies', '-s')).out).toBe(
          '/\tDLX\t.*\tqueues\t{"dead-letter-exchange":"my-dlx"}\t0\n',
        );
        expect((await ours('clear_policy', 'DLX')).code).toBe(0);
      }
  });

  it('carries definitions from one broker to another, passwords included', async () => {
    const other = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
    const there = { DLX_BROKER_URL: `http://127.0.0.1:${other.http?.port}` };
    const file = join(folder, 'definitions.json');
    await ours('add_user', 'ada', 'geheim');
    await ours('set_user_tags', 'ada', 'management');
    await ours('export_definitions', file);
    // Only the owner may read the hashes of passwords.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await runCtl(['import_definitions', '-q'], there, readFileSync(file, 'utf8'))).toMatchObject({
      code: 0,
      out: '',
    });
    expect((await runCtl(['ping', '--user', 'ada', '--password', 'geheim'], there)).code).toBe(0);
    await other.close();
  });

  it.each([
    ['list_queue', 64, 'Did you mean list_queues?'],
    ['join_cluster x', 64, "unknown command 'join_cluster'"],
    ['list_queues --online', 64, "unknown option '--online'"],
    ['delete_queue', 64, "missing required argument 'queue'"],
    ['list_queues --timeout x', 64, "--timeout must be a number of seconds above 0, but is 'x'"],
    ['list_queues --url http://127.0.0.1:1', 69, 'connection refused; --url or DLX_BROKER_URL names'],
    [
      `list_queues --url http://127.0.0.1:${served.amqp.port}`,
      69,
      'name the port of the management API, not that of AMQP',
    ],
    ['add_vhost rivers --default-queue-type stream', 64, "unsupported queue type 'stream'"],
  ])('refuses %s with %i', async (line, code, text) => {
    expect(await ours(...line.split(' '))).toEqual({ code, out: '', errors: expect.stringContaining(text) });
  });

  it('ends when there is no answer in time, and says when the answer is that of another server', async () => {
    const server = createServer((request, response) => {
      if (request.url !== '/api/whoami') response.end('<html>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const late = `Error: no answer to ping from '${url}' within 0.2 s; --timeout SECONDS waits longer\n`;
    expect(await ours('ping', '--url', url, '-t', '0.2')).toEqual({ code: 75, out: '', errors: late });
    for (const line of ['status', 'list_users', 'add_user ada', 'delete_queue orders'])
      expect(await ours(...line.split(' '), '--url', url)).toEqual({
        code: 69,
        out: '',
        errors: `Error: unable to perform an operation on '${url}': its answer is not that of a management API\n`,
      });
    server.closeAllConnections();
    server.close();
  });

  it('reads a password from standard input, and closes a connection with a reason', async () => {
    expect((await runCtl(['add_user', 'eve'], { DLX_BROKER_URL: brokers[0]!.url }, 'geheim\nx')).code).toBe(0);
    await ours('set_user_tags', 'eve', 'management');
    expect((await ours('ping', '--user', 'eve', '--password', 'geheim')).code).toBe(0);
    const connection = await connect(brokers[0]!.amqp);
    const ended = new Promise<Error>((resolve) => connection.once('close', resolve));
    const [name = ''] = (await ours('list_connections', '-s', 'name')).out.trim().split('\n').slice(-1);
    expect((await ours('close_connection', name, 'shop is closing')).code).toBe(0);
    expect((await ended).message).toContain('CONNECTION_FORCED - shop is closing');
  });

  it('has every command on its page', () => {
    const names = Object.values(table).flatMap((rows) => rows.map(({ command }) => command.split(' ')[0]));
    const page = [...read('docs/reference/ctl.md').matchAll(/`([a-z]+(?:_[a-z]+)+|ping|status)(?=[` ])/g)].map(
      ([, name]) => name,
    );
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });
});
