import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { type Case, cases, keyOf } from './cases.js';
import type { Result } from './measure.js';
import { rabbit, type Rival } from './rivals.js';
import { type Server, startOurs } from './servers.js';
import { head, rowsOf } from './table.js';

/** Workloads by their names, such as `W1`; all of them without one. */
const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    warm: { type: 'string', default: '1.5' },
    /** Only programs with this client. */
    client: { type: 'string' },
    aged: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    write: { type: 'string' },
  },
});
const execute = promisify(execFile);
const pace = { warm: Number(options.warm), measured: Number(options.seconds) };
/** A pause between the measurements of two servers, in milliseconds. */
const settleTime = 300;
/** The time limit for declarations, filling and draining, in seconds. */
const overheadLimit = 240;

const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs a program to its end. @param seconds its time limit, because a server may hang @returns its output */
async function run(name: string, task: object, seconds: number): Promise<string> {
  const { stdout } = await execute(process.execPath, [program(name), JSON.stringify(task)], {
    timeout: seconds * 1000,
  });
  return stdout;
}

async function measure(one: Case, { target }: Server, rival?: Rival): Promise<Result> {
  const task = { key: keyOf(one), target, pace, rival: rival?.name };
  return JSON.parse(await run('child.js', task, pace.warm + pace.measured + overheadLimit)) as Result;
}

/** Opens a server, measures it, and closes it. */
async function measureOnce(
  one: Case,
  open: () => Promise<Server | undefined>,
  rival?: Rival,
): Promise<Result | undefined> {
  const server = await open();
  try {
    return server && (await measure(one, server, rival));
  } finally {
    await server?.close();
    await sleep(settleTime);
  }
}

/** Measures the servers in turn, A B A B, so that a change of the machine's speed affects all of them. */
async function compare(one: Case, ours: () => Promise<Server>, when: string): Promise<string[]> {
  const own: Result[] = [];
  const theirs = (one.rivals ?? [rabbit]).map((rival) => ({ rival, results: [] as Result[] }));
  for (let run = 0; run < Number(options.runs); run++) {
    const mine = await measureOnce(one, one.start ?? ours);
    if (mine !== undefined) own.push(mine);
    for (const { rival, results } of theirs) {
      const other = await measureOnce(one, rival.open, rival);
      if (other !== undefined) results.push(other);
    }
  }
  const others = theirs.map(({ rival: { name, client = one.client }, results }) => ({ name, client, results }));
  const rows = rowsOf({ ...one, title: `${one.title}${when}` }, own, others);
  for (const row of rows) console.log(row);
  return rows;
}

async function all(chosen: readonly Case[], ours: () => Promise<Server>, when = ''): Promise<string[]> {
  const rows: string[] = [];
  for (const one of chosen) rows.push(...(await compare(one, ours, when)));
  return rows;
}

/** Measures one dlx-broker when it is new, and again after work. RabbitMQ has run for long both times. */
async function aging(chosen: readonly Case[]): Promise<string[]> {
  const server = await startOurs();
  try {
    return await freshAndAged(chosen, server);
  } finally {
    await server.close();
  }
}

async function freshAndAged(chosen: readonly Case[], server: Server): Promise<string[]> {
  const same = async (): Promise<Server> => ({ target: server.target, close: async () => undefined });
  const fresh = await all(chosen, same, '; fresh');
  const minutes = Number(options.minutes);
  await run('mixed.js', { target: server.target, minutes }, minutes * 60 + overheadLimit);
  const aged = await all(chosen, same, `; after ${minutes} minutes of mixed load`);
  return [...fresh, ...aged];
}

const chosen = cases.filter(
  ({ id, client }) =>
    (wanted.length === 0 || wanted.includes(id)) && (options.client === undefined || client === options.client),
);
for (const name of wanted) if (!cases.some(({ id }) => id === name)) throw new Error(`there is no workload '${name}'`);
const rows = options.aged
  ? await aging(
      chosen.filter(({ client, start, rivals }) => client === 'lean' && start === undefined && rivals === undefined),
    )
  : await all(chosen, () => startOurs());
const lines = [...head(availableParallelism(), options.runs, pace), ...rows, ''];
console.log(`\n${lines.join('\n')}`);
if (options.write !== undefined) writeFileSync(options.write, lines.join('\n'));
