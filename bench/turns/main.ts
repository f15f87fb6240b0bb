import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { resources } from '../../libs/dlx-broker/src/server/api/resources.js';
import { endWithHelp } from '../usage.js';
import type { Turn } from './meter.js';
import { type Asked, requestsOf } from './requests.js';
import type { Size } from './scene.js';

endWithHelp(`npm run turns -w bench -- [options]

The longest turn of the event loop for each request of a client or an operator: every method of every route of the management API,
and the commands of the engine for many objects. In milliseconds of processor time, garbage collections apart.

  --data      with a data directory: queues and messages are durable
  --small     a tenth of the queues, bindings and messages
  --only X    only rows whose name contains X
  --over N    prints only rows over N milliseconds (default: 0)
  --help      shows this text`);

const { values: options } = parseArgs({
  options: {
    data: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    over: { type: 'string', default: '0' },
  },
});
const { only } = options;
const over = Number(options.over);
const scale = options.small ? 10 : 1;
const size: Size = { queues: 10_000 / scale, bindings: 30_000 / scale, messages: 1_000_000 / scale };
const folder = mkdtempSync(join(tmpdir(), 'turns-'));

const child = fork(
  new URL('./server.js', import.meta.url),
  [JSON.stringify(size), ...(options.data ? [join(folder, 'data')] : [])],
  { execArgv: ['--expose-gc', '--max-old-space-size=6000'], serialization: 'advanced' },
);
const { port, operations } = (await heard()) as { readonly port: number; readonly operations: readonly string[] };

child.once('exit', (code) => {
  console.error(`the broker ended with ${code}`);
  process.exit(1);
});

function heard(): Promise<unknown> {
  return new Promise((resolve) => child.once('message', resolve));
}

async function tell(what: string, which = ''): Promise<unknown> {
  const answer = heard();
  child.send([what, which]);
  return ((await answer) as readonly unknown[])[0];
}

/** Status and length of the answer, and its beginning, which shows an error. */
function ask({ method, path, body, ends }: Asked): Promise<{ status: number; bytes: number; text: string }> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}`,
    ...(sent !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
  };
  return new Promise((resolve) => {
    const asked = request({ port, method, path: `/api${path}`, headers, agent: false }, (response) => {
      let bytes = 0;
      let text = '';
      const done = (): void => resolve({ status: response.statusCode ?? 0, bytes, text });
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (text.length < 1_000) text += part.toString('latin1', 0, 1_000);
      });
      response.on('end', done);
      response.on('error', done);
    });
    asked.on('error', (error) => resolve({ status: 0, bytes: 0, text: error.message }));
    if (ends !== undefined) setTimeout(() => asked.destroy(), ends);
    asked.end(sent);
  });
}

const texts: Readonly<Record<string, () => Promise<string>>> = {
  connection: async () => encodeURIComponent(await first('/connections?columns=name')),
  channel: async () => encodeURIComponent(await first('/channels?columns=name')),
  redrive: async () => {
    const body = { vhost: '/', queue: 'died', to: { exchange: '', routing_key: 'died' }, rate: 1 };
    const { text } = await ask({ label: '', method: 'POST', path: '/dlx/redrives', body });
    if (!text.startsWith('{"id":')) return redrive;
    return (redrive = /"id":"([^"]*)"/.exec(text)?.[1] ?? '');
  },
};
let redrive = '';

/** Fills in names that only the running broker has. */
async function named(path: string): Promise<string> {
  const name = /\{(\w+)\}/.exec(path)?.[1];
  return name === undefined ? path : path.replace(`{${name}}`, (await texts[name]?.()) ?? '');
}

async function first(path: string): Promise<string> {
  const { text } = await ask({ label: '', method: 'GET', path });
  return /"name":"([^"]*)"/.exec(text)?.[1] ?? 'none';
}

/** Waits for the end of a redrive. */
async function redriven(started: string): Promise<void> {
  const id = /"id":"([^"]*)"/.exec(started)?.[1];
  for (let state = 'running'; id !== undefined && state === 'running';) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const { text } = await ask({ label: '', method: 'GET', path: `/dlx/redrives/${id}` });
    state = /"state":"([^"]*)"/.exec(text)?.[1] ?? 'gone';
    if (state !== 'running') console.log(`  redrive ${state}: ${/"moved":\d+/.exec(text)?.[0]}`);
  }
}

const rows: (readonly [label: string, turn: Turn, more: string])[] = [];

/** Notes the longest of these turns, not counting garbage collections, and prints it if it is too long. */
function report(label: string, turns: readonly Turn[], more: string): void {
  const none = { start: 0, end: 0, cpu: 0, gc: 0, kinds: '' };
  const longest = turns.reduce((best, turn) => (turn.cpu - turn.gc > best.cpu - best.gc ? turn : best), none);
  rows.push([label, longest, more]);
  if (longest.cpu - longest.gc >= over) console.log(line(label, longest, more));
}

const milliseconds = (time: number): string => time.toFixed(1).padStart(8);
const line = (label: string, { cpu, gc }: Turn, more: string): string =>
  `${label.slice(0, 100).padEnd(100)} ${milliseconds(cpu - gc)} ${milliseconds(gc)}  ${more}`;

console.log(`${'longest turn, in milliseconds of processor time'.padEnd(100)}     work       gc  answer`);
await tell('prepare', 'furnish');
for (const asked of requestsOf(resources, size)) {
  if (!asked.label.includes(only)) continue;
  if (asked.before !== undefined) await tell('prepare', asked.before);
  const path = await named(asked.path);
  await tell('begin');
  const { status, bytes, text } = await ask({ ...asked, path });
  if (asked.isRedrive === true) await redriven(text);
  const why = status >= 400 ? ` ${text.replaceAll('\n', ' ').slice(0, 80)}` : '';
  report(asked.label, (await tell('end')) as readonly Turn[], `${status} ${bytes} bytes${why}`);
}
for (const operation of operations) {
  if (!`engine: ${operation}`.includes(only)) continue;
  report(`engine: ${operation}`, (await tell('operate', operation)) as readonly Turn[], '');
}
const long = rows.filter(([, { cpu, gc }]) => cpu - gc > 50);
console.log(`\n${rows.length} tried, ${long.length} of them with a turn of more than 50 ms of work`);
for (const row of long) console.log(line(...row));
child.removeAllListeners('exit').kill('SIGKILL');
rmSync(folder, { recursive: true, force: true });
process.exit(0);
