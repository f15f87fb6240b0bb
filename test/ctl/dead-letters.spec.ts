import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import amqplib from 'amqplib';
import { Command } from 'commander';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Terminal } from '../../libs/dlx-broker/src/cli/command.js';
import { addDeadLetters } from '../../libs/dlx-broker/src/cli/dead-letters/index.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';

const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
const connection = await amqplib.connect(`amqp://127.0.0.1:${served.amqp.port}`);
afterAll(async () => {
  await connection.close();
  await served.close();
});

const run = (...words: string[]) => runAt(undefined, ...words);

/** A terminal that records what is drawn, and can interrupt. */
class FakeTerminal implements Terminal {
  readonly drawn: string[] = [];
  readonly width = 60;
  readonly clears = false;
  interrupt: (() => void) | undefined;
  /** Called for each text that is printed. */
  shows: ((text: string) => void) | undefined;

  constructor(private readonly onDraw: (terminal: FakeTerminal) => void = () => {}) {}

  draw(text: string): void {
    this.drawn.push(text);
    this.onDraw(this);
  }

  async write(text: string): Promise<void> {
    this.drawn.push(text);
  }

  onInterrupt(then: () => void): () => void {
    this.interrupt = then;
    return () => (this.interrupt = undefined);
  }
}

async function runAt(terminal: FakeTerminal | undefined, ...words: string[]) {
  const out: string[] = [];
  const errors: string[] = [];
  let code = -1;
  const program = new Command().exitOverride();
  const told = {
    env: { DLX_BROKER_URL: `http://127.0.0.1:${served.http?.port}` },
    out: (text: string) => {
      out.push(text);
      terminal?.shows?.(text);
    },
    error: (text: string) => void errors.push(text),
    ...(terminal && { terminal }),
  };
  addDeadLetters(program, told, (ended) => (code = ended));
  await program.parseAsync(words, { from: 'user' });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

/** A work queue whose rejected messages lie in `dead`. */
beforeEach(async () => {
  const channel = await connection.createConfirmChannel();
  for (const queue of ['work', 'dead']) await channel.deleteQueue(queue);
  await channel.assertExchange('orders', 'direct');
  await channel.assertQueue('work', {
    arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' },
  });
  await channel.bindQueue('work', 'orders', 'created');
  await channel.assertQueue('dead');
  for (const id of [1, 2, 3])
    channel.publish('orders', 'created', Buffer.from(`order ${id}\u001b[2J`), { headers: { tenant: `t${id}` } });
  await channel.waitForConfirms();
  for (let got = 0; got < 3; got += 1) channel.reject((await channel.get('work')) as amqplib.GetMessage, false);
  expect((await channel.checkQueue('dead')).messageCount).toBe(3);
  await channel.close();
});

const waiting = (queue: string): number => served.broker.virtualHosts.get('/')?.queues.get(queue)?.length ?? -1;

describe('dead-letters', () => {
  it('lists them without taking them out, and lets no control character through', async () => {
    const { code, out } = await run('list', 'dead');
    expect(code).toBe(0);
    const [head, first, , , last] = out.split('\n');
    expect(head).toMatch(/^id +reason +count +died in +last died +from +error +body$/);
    expect(first).toMatch(
      /^\d+ +rejected +1 +work +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* +orders\/created +order 1\\x1b\[2J$/,
    );
    expect(last).toBe('3 shown of 3 ready (3 looked at)');
    expect(waiting('dead')).toBe(3);
  });

  it('lists those that fit, or counts them', async () => {
    expect((await run('list', 'dead', '--header', 'tenant=t2')).out).toContain('1 shown of 3 ready');
    expect((await run('list', 'dead', '--reason', 'expired')).out).toContain('0 shown of 3 ready');
    expect((await run('list', 'dead', '--by', 'reason')).out).toMatch(/\n3 +rejected/);
  });

  it('lists parked messages with their attempts, and groups of a fingerprint with their error', async () => {
    const channel = await connection.createConfirmChannel();
    const headers = {
      'dlx-parked': true,
      'dlx-attempt': 3,
      'dlx-queue': 'work',
      'dlx-failing-since': 1_767_268_800_000,
      'dlx-error-class': 'RangeError',
      'dlx-error-message': 'no stock of 7',
      'dlx-fingerprint': '1:0123456789abcdef',
    };
    const failed = (at: string) => ({
      attempt: { '!': 'int32', value: 1 },
      at: Date.parse(at),
      name: 'RangeError',
      message: 'no stock',
    });
    await channel.purgeQueue('dead');
    const errors = [failed('2026-01-01T12:30:00Z'), failed('2026-01-01T12:00:00Z')];
    for (const more of [
      {},
      {
        'dlx-errors': errors,
        'dlx-deaths': [
          { queue: 'wait.5', reason: 'expired' },
          { queue: 'work', reason: 'rejected', count: 3 },
        ],
      },
      { 'dlx-failing-since': '9'.repeat(30), 'dlx-queue': 7, 'dlx-attempt': 'x' },
    ])
      channel.sendToQueue('dead', Buffer.from('order'), { headers: { ...headers, ...more } });
    await channel.waitForConfirms();
    await channel.close();
    const [, first, again, second] = (await run('list', 'dead')).out.split('\n');
    expect(first).toMatch(/^\d+ +parked +3 +work +2026-01-01 12:00:00 +.*RangeError +order$/);
    // The latest failure, not the first.
    expect(again).toMatch(/^\d+ +parked +3 +work +2026-01-01 12:30:00 /);
    expect(second).toMatch(/^\d+ +parked +.*RangeError +order$/);
    const shown = (await run('show', 'dead', /^\d+/.exec(again!)![0])).out;
    expect(shown).toMatch(/\n *expired +1 +wait\.5 .*\n *rejected +3 +work /);
    expect(shown).not.toContain('dlx-deaths');
    expect((await run('list', 'dead', '--reason', 'parked')).out).toContain('3 shown of 3 ready');
    expect((await run('list', 'dead', '--by', 'reason')).out).toMatch(/\n3 +parked/);
    const [head, group] = (await run('list', 'dead', '--by', 'fingerprint')).out.split('\n');
    expect(head).toMatch(/^count +what +error +example +oldest +newest$/);
    expect(group).toMatch(/^3 +1:0123456789abcdef +RangeError: no stock of # +\d+ /);
  });

  it('shows one whole', async () => {
    const [{ id }] = JSON.parse((await run('list', 'dead', '--json')).out).items as [{ id: string }];
    const { out } = await run('show', 'dead', id);
    for (const part of ['published to  orders/created', 'rejected', 'tenant', '"t1"', 'order 1'])
      expect(out).toContain(part);
    expect(out).not.toContain('\u001b');
  });

  it('sends them home, one, and then all', async () => {
    const [{ id }] = JSON.parse((await run('list', 'dead', '--json')).out).items as [{ id: string }];
    expect(await run('redrive', 'dead', id)).toEqual({ code: 0, out: '1 redriven\n1  to work', errors: '' });
    expect([waiting('dead'), waiting('work')]).toEqual([2, 1]);
    expect((await run('redrive', 'dead', '99999', '--dry-run')).out).toBe('0 would be redriven, 1 not in the queue');
    expect((await run('redrive', 'dead', '--rate', '0', '--dry-run')).out).toContain('2 would be redriven');
    expect(waiting('dead')).toBe(2);
    expect((await run('redrive', 'dead', '--rate', '0')).out).toContain('2 redriven');
    expect([waiting('dead'), waiting('work')]).toEqual([0, 3]);
  });

  it('names the queue that a misspelt one means', async () => {
    const errors = "Error: there is no queue 'daed' in vhost '/'; did you mean 'dead'?";
    for (const words of [
      ['list', 'daed'],
      ['list', 'daed', '--by', 'reason'],
      ['show', 'daed', '7'],
    ])
      expect(await run(...words)).toEqual({ code: 65, out: '', errors });
  });

  it('fails if none of the messages that a command names is there', async () => {
    const [{ id }] = JSON.parse((await run('list', 'dead', '--json')).out).items as [{ id: string }];
    const place = "in queue 'dead' in vhost '/'; 'dlx-broker dead-letters list dead' shows the ids";
    const one = `Error: there is no message 99999 ${place}`;
    const two = `Error: there are none of these messages ${place}`;
    const out = '0 redriven, 1 not in the queue';
    expect(await run('redrive', 'dead', '99999')).toEqual({ code: 65, out, errors: one });
    expect(await run('redrive', 'dead', '99999', '--dry-run')).toMatchObject({ code: 65, errors: one });
    expect(await run('redrive', 'dead', '99998', '99999')).toMatchObject({ code: 65, errors: two });
    expect(await run('export', 'dead', '99999')).toEqual({ code: 65, out: '', errors: one });
    expect(await run('export', 'dead', '99998', '99999')).toEqual({ code: 65, out: '', errors: two });
    expect(await run('export', 'dead', id, '99999')).toMatchObject({ code: 0, errors: '' });
    expect(await run('redrive', 'dead', id, '99999')).toMatchObject({ code: 0, errors: '' });
    expect(await run('redrive', 'dead', '--reason', 'expired')).toMatchObject({ code: 0, errors: '' });
    expect(await run('export', 'dead', '--reason', 'expired')).toEqual({ code: 0, out: '', errors: '' });
  });

  it('lists the queues that get dead letters, without a queue', async () => {
    const { code, out } = await run('list');
    expect(code).toBe(0);
    const [head, row, last] = out.split('\n');
    expect(head).toMatch(/^queue +features +ready +unacked +in\/s +out\/s +oldest$/);
    expect(row).toMatch(/^dead +D +3 +0 +\d+\.\d +\d+\.\d +\d{4}-\d\d-\d\d /);
    expect(last).toBe('1 shown of 1 dead-letter queues, with 3 ready');
    expect((await run('list', '--vhost', 'none')).code).toBe(65);
  });

  it('groups over all queues, and over one', async () => {
    for (const words of [['groups'], ['groups', 'dead'], ['groups', '--died-in', 'work', '--reason', 'rejected']]) {
      const { code, out } = await run(...words);
      expect(code).toBe(0);
      const [head, row, last] = out.split('\n');
      expect(head).toMatch(/^count +queue +reason +died first in +error +oldest +example$/);
      expect(row).toMatch(/^3 +dead +rejected +work +\d{4}.* \(.*s\) +\d+$/);
      expect(last).toMatch(/^3 messages of \d queues looked at$/);
    }
    expect((await run('groups', '--reason', 'maxlen')).out).toMatch(/^count .*\n3 messages of 1 queues looked at$/);
  });

  it('shows a list again and again, until an interrupt', async () => {
    let count = 0;
    const terminal = new FakeTerminal();
    terminal.shows = (text) => {
      if (text.includes('3 shown of 3 ready') && ++count === 3) terminal.interrupt?.();
    };
    expect((await runAt(terminal, 'list', 'dead', '--watch', '0.1')).code).toBe(0);
    expect(count).toBe(3);
  });

  it('draws the progress of a redrive, and says at an interrupt how to end it', async () => {
    const terminal = new FakeTerminal(({ interrupt }) => interrupt?.());
    const { code, out, errors } = await runAt(terminal, 'redrive', 'dead', '--rate', '1');
    const [, id] = /dead-letters cancel (\S+)'/.exec(errors) ?? [];
    expect({ code, out }).toEqual({ code: 130, out: '' });
    expect(errors).toMatch(/^redrive \S+ goes on in the broker; /);
    expect(terminal.drawn[0]?.replace('\u001b', 'ESC')).toMatch(/^\r\[[#.]{24}\] +\d+ % {2}\d movedESC\[K$/);
    expect(terminal.drawn.at(-1)).toBe('\r\u001b[K');
    expect((await run('redrives')).out).toMatch(new RegExp(`\n${id} +dead +running +\\d+ % +\\d +0 +0 +guest `));
    expect((await run('pause', id!)).out).toMatch(/ is paused, \d moved$/);
    expect((await run('resume', id!)).out).toMatch(/ is running, \d moved$/);
    expect((await run('cancel', id!)).out).toMatch(/ is cancelled, \d moved$/);
    expect(await run('cancel', id!)).toMatchObject({ code: 69, errors: expect.stringContaining('is cancelled') });
  });

  it('does not wait for the end of a redrive with --no-wait', async () => {
    const { code, out } = await run('redrive', 'dead', '--rate', '1', '--no-wait');
    const [, id] = /^redrive (\S+) has begun; .* ends it$/.exec(out) ?? [];
    expect(code).toBe(0);
    expect((await run('cancel', id!)).code).toBe(0);
    expect(waiting('dead')).toBeGreaterThan(0);
  });

  it('says what stays where it is, and why', async () => {
    const { code, out, errors } = await run('redrive', 'dead', '--to', 'orders/nowhere', '--rate', '0');
    expect(code).toBe(65);
    expect(out).toMatch(/^0 redriven, 3 left\n3 +unroutable: orders\/nowhere, for example message \d+$/);
    expect(errors).toBe('Error: 3 messages stay where they are');
    expect(waiting('dead')).toBe(3);
  });

  it('knows a management API that is not its own', async () => {
    const other = createServer((_, response) => response.writeHead(400).end());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, errors } = await run('list', 'dead', '--url', url);
    expect(code).toBe(69);
    expect(errors).toMatch(/^Error: what is at '.*' is no dlx-broker: it answers 400; name .* by --url/);
    other.close();
  });

  it.each([
    [404, ['list']],
    [404, ['groups']],
    [404, ['redrives']],
    [405, ['redrive', 'dead']],
  ])('knows a RabbitMQ by its answer %i to %j', async (status, words) => {
    const body = status === 404 ? '{"error":"Object Not Found","reason":"Not Found"}' : '';
    const other = createServer((_, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, errors } = await run(...words, '--url', url);
    other.close();
    expect(code).toBe(69);
    expect(errors).toMatch(
      /is no dlx-broker: it answers 40[45]; name .* A RabbitMQ has no API for dead letters, and cannot pause a queue$/,
    );
  });

  it('lists the queues of a RabbitMQ, which has no rates and no times of deaths', async () => {
    const row = { vhost: '/', name: 'orders.parked', features: [], messages_ready: 1, messages_unacknowledged: 0 };
    const items = [{ ...row, dead_in_rate: null, dead_out_rate: null, oldest: null }];
    const other = createServer((_, response) => response.end(JSON.stringify({ items, filtered_count: 1 })));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { code, out } = await run('list', '--url', `http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    other.close();
    expect(code).toBe(0);
    expect(out).toMatch(/^orders\.parked +1 +0 *$/m);
  });

  it.each<[string, string[], number, string]>([
    ['a queue that is not there', ['list', 'gone'], 65, "Error: there is no queue 'gone' in vhost '/'"],
    ['a queue to redrive from that is not there', ['redrive', 'gone'], 65, "there is no queue 'gone' in vhost '/'"],
    [
      'a message that is not there',
      ['show', 'dead', '99999'],
      65,
      "Error: there is no message 99999 in queue 'dead' in vhost '/'; 'dlx-broker dead-letters list dead' shows the ids",
    ],
    [
      'a time that is none',
      ['list', 'dead', '--older-than', 'soon'],
      64,
      "Error: --older-than should be a duration such as 90s, 15m, 2h or 7d: 'soon'",
    ],
    ['a number that is none', ['list', 'dead', '--limit', 'all'], 64, '--limit should be a whole number'],
    ['a group by what is no property', ['list', 'dead', '--by', 'colour'], 64, 'Error: --by should be one of reason,'],
    ['a misspelt reason', ['redrive', 'dead', '--reason', 'rejcted'], 64, "'rejcted'; did you mean 'rejected'?"],
    ['a message of no queue', ['show', 'gone', '1'], 65, "Error: there is no queue 'gone' in vhost '/'"],
    ['an exchange that is not there', ['redrive', 'dead', '--to', 'gone/key'], 64, "no exchange 'gone'"],
    [
      'a place that is none',
      ['redrive', 'dead', '--to', 'nowhere'],
      64,
      "must be EXCHANGE/KEY, but is 'nowhere'; write '/nowhere' for the queue",
    ],
    ['a rate that is none', ['redrive', 'dead', '--rate', 'fast'], 64, "--rate must be a number, but is 'fast'"],
    [
      'a watch without seconds',
      ['list', 'dead', '--watch', 'on'],
      64,
      '--watch must be a number of seconds, at least 0.1',
    ],
    ['groups of no queue', ['groups', 'nope'], 65, "there is no queue 'nope' in vhost '/'"],
    ['a filter without a queue', ['list', '--reason', 'expired'], 64, "'dlx-broker dead-letters groups' has all"],
    ['a redrive that is not there', ['cancel', 'none'], 65, "there is no redrive 'none'"],
    ['ids and a filter', ['redrive', 'dead', '1', '--text', 'x'], 64, 'not both'],
    ['a broker that is not there', ['list', 'dead', '--url', 'http://127.0.0.1:1'], 69, 'connection refused'],
    ['a wrong password', ['list', 'dead', '--user', 'guest', '--password', 'geheim'], 69, 'Login failed'],
  ])('refuses %s', async (_, words, code, text) => {
    const refused = await run(...words);
    expect([refused.code, refused.out]).toEqual([code, '']);
    expect(refused.errors).toContain(text);
    expect(refused.errors).not.toContain('geheim');
  });
});
