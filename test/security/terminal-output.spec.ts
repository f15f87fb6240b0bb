import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { checkData, exportData } from '../../libs/dlx-broker/src/cli/data.js';
import { addDeadLetters } from '../../libs/dlx-broker/src/cli/dead-letters/index.js';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { runCtl } from '../ctl/run.js';

/** A name that clears the screen, sets the title, turns text around, hides a letter and begins a line of its own. */
const evil = 'q\u001b[2J\u001b]0;x\u0007\u009b31m\u202egnp\u200b\nSECOND LINE\t';
/** A queue's name loses its line ends, as in RabbitMQ. */
const queue = evil.replace('\n', '');
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

let served: Served;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'terminal-'));
  served = await serve({
    amqp: { host: '127.0.0.1', port: 0 },
    http: { host: '127.0.0.1', port: 0 },
    data: { directory },
  });
  const { broker } = served;
  const channel = broker.connect().openChannel(silentOutbox);
  channel.declareExchange(evil, { type: 'topic', durable: true });
  channel.declareQueue(queue, {
    durable: true,
    arguments: new Map([['x-dead-letter-exchange', { type: 'S', value: evil }]]),
  });
  channel.bindQueue(queue, evil, evil);
  channel.publish('', queue, { deliveryMode: 2, messageId: evil, type: evil }, Buffer.from(`body ${evil}`));
  broker.access.setUser(evil, { tags: [evil] });
  broker.access.setUser(queue);
  broker.access.setPermissions(queue, '/', { configure: '^$', write: evil, read: evil });
  broker.access.setPermissions(evil, '/', { configure: '.*', write: '.*', read: '.*' });
  broker.virtualHost('/').setPolicy(evil, { pattern: evil, definition: { 'max-length': 9 } });
  broker.parameters.set(evil, evil);
  broker.addVirtualHost(evil, { description: evil, tags: [evil] });
});
afterAll(async () => {
  await served.close();
  rmSync(directory, { recursive: true });
});

const env = () => ({
  DLX_BROKER_URL: `http://127.0.0.1:${served.http?.port}`,
  DLX_BROKER_USER: 'guest',
  DLX_BROKER_PASSWORD: 'guest',
});

async function ctl(...words: readonly string[]): Promise<string> {
  const { out, errors } = await runCtl(words, env());
  return out + errors;
}

async function deadLetters(...words: readonly string[]): Promise<string> {
  const all: string[] = [];
  const put = (text: string): void => void all.push(text);
  const program = new Command().exitOverride();
  addDeadLetters(program, { env: env(), out: put, error: put }, () => {});
  await program.parseAsync(words, { from: 'user' });
  return all.join('\n');
}

function expectSafe(text: string): void {
  const lines = text.split(/\n|\t|\r\n/);
  for (const line of lines) {
    expect(JSON.stringify(line)).toBe(JSON.stringify(line.replaceAll(new RegExp(hidden, 'gu'), '')));
    expect(line.startsWith('SECOND LINE')).toBe(false);
  }
}

const listings = [
  ['list_queues', 'name', 'arguments', 'policy'],
  ['list_exchanges'],
  ['list_bindings'],
  ['list_users'],
  ['list_permissions'],
  ['list_user_permissions', queue],
  ['list_policies'],
  ['list_vhosts', 'name', 'description', 'tags'],
  ['list_connections'],
] as const;

describe('names that clients made do nothing to a terminal:', () => {
  it.each(listings.map((words) => [words[0], words] as const))('ctl %s', async (_, words) => {
    expectSafe(await ctl(...words));
  });

  it.each(listings.map((words) => [words[0], words] as const))('ctl %s as json says the same', async (_, words) => {
    const text = await ctl(...words, '--json');
    expectSafe(text);
    if (words[0] === 'list_queues') expect(JSON.parse(text)).toMatchObject([{ name: queue }]);
    else JSON.parse(text);
  });

  it.each([
    ['delete_queue', 'none\u001b[2J\u202e'],
    ['delete_user', 'none\u001b[2J'],
    ['set_permissions', '-p', '/', 'none\u001b[2J', '(', '', ''],
    ['status'],
  ])('ctl %s, with its errors', async (...words) => {
    expect(await ctl(...words)).not.toBe('');
    expectSafe(await ctl(...words));
  });

  it('dead-letters list, show and redrive, and as json', async () => {
    expectSafe(await deadLetters('list', queue));
    expectSafe(await deadLetters('list', queue, '--by', 'routing-key'));
    expectSafe(await deadLetters('redrive', queue, '--dry-run'));
    const json = await deadLetters('list', queue, '--json');
    expectSafe(json);
    const { items } = JSON.parse(json) as { items: { id: string; payload: string }[] };
    expect(items[0]?.payload).toBe(`body ${evil}`);
    // The lines and tabs of a body are its own.
    expect((await deadLetters('show', queue, items[0]?.id ?? '')).replaceAll(/[\n\t]/g, '')).not.toMatch(hidden);
  });

  it('data check and data export', async () => {
    await served.close();
    const lines: string[] = [];
    const put = async (text: string): Promise<void> => void lines.push(text);
    await checkData(directory, put);
    expectSafe(lines.join(''));
    lines.length = 0;
    await exportData(directory, put, () => {});
    expectSafe(lines.join(''));
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ queue, body: `body ${evil}` });
  });
});
