import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { addDeadLetters } from '../../libs/dlx-broker/src/cli/dead-letters/index.js';
import { toFieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { declareDying, rejectAll } from '../harnesses/dying.js';

const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
const directory = await mkdtemp(join(tmpdir(), 'delete-letters-'));
afterAll(async () => {
  await served.close();
  await rm(directory, { recursive: true });
});

const file = join(directory, 'dead.ndjson');
const channel = served.broker.connect().openChannel(silentOutbox);
const { queues } = served.broker.virtualHost('/');

const dead = (): string[] => {
  const bodies: string[] = [];
  queues.get('dead')?.peek(({ message }) => void bodies.push(Buffer.from(message.body).toString()));
  return bodies;
};

const die = (...bodies: (string | Uint8Array)[]): void => {
  for (const body of bodies)
    channel.publish('', 'work', { headers: toFieldTable({ body: String(body) }) }, Buffer.from(body));
  rejectAll(channel, 'work');
};

function redeclare(): void {
  for (const queue of ['work', 'dead']) channel.deleteQueue(queue);
  declareDying(channel, ['work']);
}
beforeEach(redeclare);

async function run(...words: string[]) {
  const said = { out: [] as string[], errors: [] as string[] };
  let code = -1;
  const output = {
    env: { DLX_BROKER_URL: `http://127.0.0.1:${served.http?.port}` },
    out: (text: string) => void said.out.push(text),
    error: (text: string) => void said.errors.push(text),
  };
  const program = new Command().exitOverride();
  addDeadLetters(program, output, (ended) => (code = ended));
  await program.parseAsync(words, { from: 'user' });
  return { code, out: said.out.join('\n'), errors: said.errors.join('\n') };
}

const exported = (...words: string[]) => run('export', 'dead', '--output', file, ...words);
const deleted = (...words: string[]) => run('delete', 'dead', '--exported', file, ...words);

describe('dead-letters delete', () => {
  it('deletes what the file holds, and no message that came later', async () => {
    die('one', 'two\u001b\n"', Buffer.from([255, 0]), '');
    await exported();
    die('late');
    expect((await deleted('--dry-run')).out).toBe('4 would be deleted, 1 not in the file');
    expect(dead()).toHaveLength(5);
    expect(await deleted()).toEqual({ code: 0, out: '4 deleted, 1 not in the file', errors: '' });
    expect(dead()).toEqual(['late']);
    const again = await deleted('--json');
    expect(JSON.parse(again.out)).toEqual({ dry_run: false, deleted: 0, not_in_file: 1, changed: 0, gone: 4 });
    expect((await deleted()).out).toBe('0 deleted, 1 not in the file, 4 of the file gone already or with a consumer');
  });

  it('keeps the messages of a queue that was declared anew, though they have the same ids', async () => {
    die('one', 'two');
    await exported();
    redeclare();
    die('others', 'too');
    expect((await deleted()).out).toBe('0 deleted, 0 not in the file, 2 not as in the file');
    expect(dead()).toEqual(['others', 'too']);
  });

  it('knows a message again that was delivered and came back', async () => {
    die('one');
    await exported();
    channel.nack(channel.get('dead')!.deliveryTag, false, true);
    expect((await deleted()).out).toBe('1 deleted, 0 not in the file');
  });

  it('deletes only what the filter selects', async () => {
    die('one', 'two', 'three');
    await exported();
    expect((await deleted('--header', 'body=two')).out).toBe(
      '1 deleted, 0 not in the file, 2 of the file gone already, with a consumer, or not selected by the filter',
    );
    expect(dead()).toEqual(['one', 'three']);
  });

  it('deletes many in several requests, each on record', async () => {
    die(...Array.from({ length: 1_101 }, (_, n) => `body ${n}`));
    await exported('--limit', '1100');
    expect((await deleted()).out).toBe('1100 deleted, 1 not in the file');
    expect(dead()).toEqual(['body 1100']);
    const path = `http://127.0.0.1:${served.http?.port}/api/dlx/audit?page_size=3`;
    const answer = await fetch(path, { headers: { authorization: `Basic ${btoa('guest:guest')}` } });
    const { items } = (await answer.json()) as { items: { action: string; details: { counts: object } }[] };
    expect(items.map(({ details }) => details.counts)).toEqual(
      [100, 500, 500].map((count) => ({ matched: count, discarded: count, gone: 0 })),
    );
  });

  it('keeps a message without a body in the file', async () => {
    die('one');
    await exported();
    const line = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, `${JSON.stringify({ ...line, payload: null, payload_error: { kind: 'unreadable' } })}\n`);
    expect((await deleted()).out).toBe('0 deleted, 0 not in the file, 1 not as in the file');
    expect(dead()).toEqual(['one']);
  });

  it.each([
    ['half a line', (text: string) => text.slice(0, -20), 'line 2: has no end, so the export broke off'],
    ['a line without its end', (text: string) => text.slice(0, -1), 'line 2: has no end, so the export broke off'],
    ['no JSON', (text: string) => text.replace('\n', '}\n'), "line 1: is no line of 'dead-letters export'"],
    ['an empty line', (text: string) => `${text}\n`, "line 3: is no line of 'dead-letters export'"],
    ['a page of list', (text: string) => `{"items":[]}\n${text}`, "line 1: is no line of 'dead-letters export'"],
    [
      'a body that was cut',
      (text: string) => text.replace('"payload":"two"', '"payload":"tw"'),
      'line 2: has not the whole body',
    ],
    ['another export', (text: string) => text + text.replaceAll('one', 'eno'), 'line 3: has message 1 again'],
  ])('deletes nothing when the file has %s', async (_, broken, why) => {
    die('one', 'two');
    await exported();
    writeFileSync(file, broken(readFileSync(file, 'utf8')));
    const { code, errors } = await deleted();
    expect([code, errors]).toEqual([65, expect.stringContaining(why)]);
    expect(errors).toContain('nothing was deleted');
    expect(dead()).toEqual(['one', 'two']);
  });

  it('refuses to delete without a file, and in a queue that does not exist', async () => {
    expect(await run('delete', 'dead')).toMatchObject({
      code: 64,
      errors: expect.stringContaining('--exported FILE is missing'),
    });
    expect(await run('delete', 'dead', '--exported', join(directory, 'none'))).toMatchObject({
      code: 65,
      errors: expect.stringContaining('--exported cannot be read: ENOENT'),
    });
    writeFileSync(file, '');
    expect(await run('delete', 'none', '--exported', file)).toMatchObject({
      code: 65,
      errors: "Error: there is no queue 'none' in vhost '/'",
    });
  });
});
