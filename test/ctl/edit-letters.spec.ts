import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Terminal } from '../../libs/dlx-broker/src/cli/dead-letters/ask.js';
import { addDeadLetters } from '../../libs/dlx-broker/src/cli/dead-letters/index.js';
import { toFieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { declareDying, rejectAll } from '../harnesses/dying.js';

const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0, edits: true } });
const directory = await mkdtemp(join(tmpdir(), 'edit-letters-'));
afterAll(async () => {
  await served.close();
  await rm(directory, { recursive: true });
});

const channel = served.broker.connect().openChannel(silentOutbox);
const queues = served.broker.virtualHost('/').queues;
const waiting = () => ['dead', 'work'].map((name) => queues.get(name)?.length);
let id: string;

beforeEach(() => {
  for (const queue of ['work', 'dead']) channel.deleteQueue(queue);
  declareDying(channel, ['work']);
  const headers = toFieldTable({ tenant: 'acme', n: 7 });
  channel.publish('', 'work', { headers }, Buffer.from('{"quantity":0,"id":12345678901234567890}'));
  rejectAll(channel, 'work');
  id = String(queues.get('dead')?.lastPosition);
});

const body = (): string => {
  const got = channel.get('work', { noAck: true });
  return Buffer.from(got!.message.body as Uint8Array).toString();
};

interface User {
  /** What the user makes of the text in the editor; undefined: there is no terminal. */
  readonly edit?: (text: string, path: string) => string | Promise<string>;
  readonly answer?: boolean | ((question: string) => boolean);
}

async function run({ edit, answer }: User, ...words: string[]) {
  const said = { out: [] as string[], errors: [] as string[], questions: [] as string[] };
  let code = -1;
  const terminal: Terminal = {
    width: undefined,
    clears: false,
    draw: () => {},
    write: async (text) => void said.out.push(text.slice(0, -1)),
    onInterrupt: () => () => {},
    ...(edit && {
      edit: async (path) => {
        writeFileSync(path, await edit(readFileSync(path, 'utf8'), path));
        return 0;
      },
    }),
    ...(answer !== undefined && {
      confirm: async (question) => {
        said.questions.push(question);
        return typeof answer === 'boolean' ? answer : answer(question);
      },
    }),
  };
  const output = {
    env: { DLX_BROKER_URL: `http://127.0.0.1:${served.http?.port}` },
    out: (text: string) => void said.out.push(text),
    error: (text: string) => void said.errors.push(text),
    terminal,
  };
  const program = new Command().exitOverride();
  addDeadLetters(program, output, (ended) => (code = ended));
  await program.parseAsync(words, { from: 'user' });
  return { code, out: said.out.join('\n'), errors: said.errors.join('\n'), question: said.questions.join('\n') };
}

it('opens an editor on a file of its owner, shows the changes, asks, and sends', async () => {
  let file = '';
  const edit = (text: string, path: string): string => {
    file = path;
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(text).toContain(`# Message ${id} of queue 'dead' in vhost '/'.`);
    expect(text).not.toContain('x-death');
    return text.replace('"quantity": 0', '"quantity": 3').replace('"acme"', '"globex"');
  };
  const { code, out, errors, question } = await run({ edit, answer: true }, 'edit', 'dead', id);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  for (const line of ['-   "tenant": {"type":"longstr","value":"acme"},', '-   "quantity": 0,', '+   "quantity": 3,'])
    expect(out.split('\n')).toContain(line);
  expect(out).toMatch(/\nsent to \/work \(queue 'work'\); entry \d+ of the audit log$/);
  expect(question).toBe(`Send it to /work (queue 'work'), and remove message ${id} from 'dead'?`);
  expect(waiting()).toEqual([0, 1]);
  expect(body()).toBe('{"quantity":3,"id":12345678901234567890}');
  expect(existsSync(dirname(file))).toBe(false);
});

it('sends nothing without a change, without a yes, or in a dry run', async () => {
  const unchanged = await run({ edit: (text) => text, answer: true }, 'edit', 'dead', id);
  expect(unchanged).toMatchObject({ code: 0, out: '', errors: expect.stringMatching(/^Nothing is changed/) });
  const declined = await run({ answer: false }, 'edit', 'dead', id, '--header', 'tenant=x');
  expect(declined).toMatchObject({ code: 65, errors: 'Nothing was sent.' });
  const dry = await run({}, 'edit', 'dead', id, '--header', 'tenant=x', '--dry-run');
  expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/\nwould go to \/work \(queue 'work'\)$/) });
  const silent = await run({}, 'edit', 'dead', id, '--header', 'tenant=x');
  expect(silent).toMatchObject({ code: 64, errors: expect.stringContaining('--yes') });
  const none = await run({}, 'edit', 'dead', id);
  expect(none).toMatchObject({ code: 64, errors: expect.stringContaining('no terminal for an editor') });
  expect(waiting()).toEqual([1, 0]);
});

it('takes a body from a file, and headers from options', async () => {
  const file = join(directory, 'body.json');
  writeFileSync(file, '{ "quantity": 9 }\n');
  const options = ['--body', file, '--header', 'n=8', '--remove-header', 'tenant', '--yes', '--json'];
  const { code, out } = await run({}, 'edit', 'dead', id, ...options);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ moved: true, destinations: ['work'], dry_run: false });
  const { message } = channel.get('work', { noAck: true })!;
  expect(Buffer.from(message.body as Uint8Array).toString()).toBe('{"quantity":9}');
  const { headers } = message.properties;
  expect([headers?.has('tenant'), headers?.get('n')]).toEqual([false, { type: 'I', value: 8 }]);
});

it('opens the text again when the server refuses it, or when it cannot be read, and removes it in the end', async () => {
  const files: string[] = [];
  const texts: string[] = [];
  const edit = (text: string, path: string): string => {
    files.push(path);
    texts.push(text);
    if (files.length === 1) return text.replace('"quantity": 0', '"quantity":');
    if (files.length === 2) return text.replace('--- body ---', 'body');
    return text.replace('body\n', '--- body ---\n').replace('"quantity":,', '"quantity": 3,');
  };
  const { code, errors, question } = await run({ edit, answer: true }, 'edit', 'dead', id);
  expect(code).toBe(0);
  expect([files.length, new Set(files).size, texts[1]?.includes('"quantity":,')]).toEqual([3, 1, true]);
  expect(errors).toContain('stops being JSON');
  expect(errors).toContain("the line '--- body ---' is missing");
  expect(question.split('\n').slice(0, 2)).toEqual(Array(2).fill('Open your text again? Otherwise it is removed.'));
  expect(body()).toBe('{"quantity":3,"id":12345678901234567890}');
  expect(existsSync(dirname(files[0]!))).toBe(false);
});

it('removes the text of the editor when it is not opened again, not sent, or the editor fails', async () => {
  let file = '';
  const breaking = (text: string, path: string): string => {
    file = path;
    return text.replace('"quantity": 0', '"quantity":');
  };
  const refused = await run({ edit: breaking, answer: false }, 'edit', 'dead', id);
  expect([refused.code, existsSync(dirname(file))]).toEqual([64, false]);
  const changing = (text: string, path: string): string => {
    file = path;
    return text.replace('"quantity": 0', '"quantity": 1');
  };
  const declined = await run({ edit: changing, answer: (question) => question.startsWith('Open') }, 'edit', 'dead', id);
  expect([declined.code, declined.errors, existsSync(dirname(file))]).toEqual([65, 'Nothing was sent.', false]);
  expect(declined.question).not.toContain('Open');
  const failing = (_: string, path: string): never => {
    file = path;
    throw new Error('the editor died');
  };
  await expect(run({ edit: failing, answer: true }, 'edit', 'dead', id)).rejects.toThrow('the editor died');
  expect(existsSync(dirname(file))).toBe(false);
  expect(waiting()).toEqual([1, 0]);
});

it('is refused with the reason when the message has left meanwhile', async () => {
  const edit = (text: string): string => {
    channel.purgeQueue('dead');
    return text.replace('"quantity": 0', '"quantity": 1');
  };
  const { code, errors } = await run({ edit, answer: false }, 'edit', 'dead', id);
  expect([code, errors]).toEqual([69, expect.stringContaining('has left the queue')]);
});

it('merges a patch into the bodies that a filter chooses, and shows the changes first', async () => {
  for (const text of ['{"quantity":1}', 'no JSON']) channel.publish('', 'work', {}, Buffer.from(text));
  rejectAll(channel, 'work');
  const file = join(directory, 'patch.json');
  writeFileSync(file, '{"quantity": 7, "currency": "EUR"}');
  const words = ['redrive', 'dead', '--reason', 'rejected', '--merge-patch', file, '--keep-original', '--rate', '0'];
  const dry = await run({}, ...words, '--dry-run');
  expect(dry.code).toBe(65);
  expect(dry.out).toContain(`message ${id}\n`);
  for (const line of ['-   "quantity": 0,', '+   "quantity": 7,', '+   "currency": "EUR"'])
    expect(dry.out).toContain(line);
  expect(dry.out).toContain('2 would be redriven, 1 left');
  expect(dry.out).toContain('undecodable: the body is no JSON object');
  expect(waiting()).toEqual([3, 0]);
  expect(await run({}, ...words)).toMatchObject({ code: 65, errors: 'Error: 1 message stays where it is' });
  expect([...waiting(), queues.get('dead.edited')?.length]).toEqual([1, 2, 2]);
  expect(body()).toBe('{"quantity":7,"id":12345678901234567890,"currency":"EUR"}');
  channel.deleteQueue('dead.edited');
});

it.each([
  ['a patch for every message', ['dead', '--merge-patch', 'x'], 64, '--merge-patch needs ids or a filter'],
  ['a file that is not there', ['dead', '1', '--merge-patch', '/none/x'], 65, '--merge-patch cannot be read: ENOENT'],
  ['a file that is no JSON', ['dead', '1', '--merge-patch', import.meta.filename], 65, 'is no JSON'],
  ['--keep-original alone', ['dead', '1', '--keep-original'], 64, '--keep-original goes with --merge-patch'],
])('refuses %s', async (_, words, code, why) => {
  expect(await run({}, 'redrive', ...words)).toMatchObject({ code, errors: expect.stringContaining(why) });
  expect(waiting()).toEqual([1, 0]);
});

it('says why a message stays, and which one is gone', async () => {
  const words = ['edit', 'dead', id, '--header', 'tenant=x', '--yes'];
  const lost = await run({}, ...words, '--to', 'amq.direct/nowhere');
  expect(lost).toMatchObject({
    code: 65,
    errors: 'Error: the message stays where it is: unroutable: amq.direct/nowhere',
  });
  expect(waiting()).toEqual([1, 0]);
  expect(await run({}, 'edit', 'dead', '99999', '--header', 'a=b')).toMatchObject({
    code: 65,
    errors: expect.stringContaining("there is no message 99999 in queue 'dead'"),
  });
});

it('exports messages as lines, to standard output or to a file of its owner', async () => {
  channel.publish('', 'work', {}, Buffer.from('a\u202eb'));
  rejectAll(channel, 'work');
  const { code, out } = await run({}, 'export', 'dead');
  expect(code).toBe(0);
  const lines = out.split('\n').map((line) => JSON.parse(line) as { payload: string });
  expect(lines.map(({ payload }) => payload)).toEqual(['{"quantity":0,"id":12345678901234567890}', 'a\u202eb']);
  expect(out).not.toContain('\u202e');
  const file = join(directory, 'some.ndjson');
  const some = await run({}, 'export', 'dead', id, '--output', file);
  expect(some).toMatchObject({ code: 0, out: '', errors: `1 messages written to ${file}` });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(2);
  expect(waiting()).toEqual([2, 0]);
});

it.each([
  ['a queue that is not there', ['gone'], 65, "there is no queue 'gone'"],
  ['ids and a filter', ['dead', '1', '--text', 'x'], 64, 'not both'],
  ['a file that cannot be written', ['dead', '--output', '/none/x'], 65, '--output cannot be written: ENOENT'],
])('refuses to export %s', async (_, words, code, why) => {
  expect(await run({}, 'export', ...words)).toMatchObject({ code, errors: expect.stringContaining(why) });
});
