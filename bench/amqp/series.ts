import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Progress } from '../progress.js';
import { type Case, keyOf } from './cases.js';
import type { Pace, Result } from './measure.js';
import { rabbit, type Rival } from './rivals.js';
import { type Server, startOurs } from './servers.js';
import { rowsOf } from './table.js';

const execute = promisify(execFile);
/** A pause between the measurements of two servers, in milliseconds. */
const settleTime = 300;
/** The time limit for declarations, filling and draining, in seconds. */
const overheadLimit = 240;

/** Runs a program to its end. @param seconds its time limit, because a server may hang @returns its output */
async function run(name: string, task: object, seconds: number): Promise<string> {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const { stdout } = await execute(process.execPath, [program, JSON.stringify(task)], { timeout: seconds * 1000 });
  return stdout;
}

/** Measures cases, each with dlx-broker and its rivals in turn. All methods return rows of the table. */
export class Series {
  /** @param runs of each server */
  constructor(
    readonly pace: Pace,
    readonly runs: number,
    readonly progress: Progress,
  ) {}

  /** @param when added to the titles */
  async all(chosen: readonly Case[], ours: () => Promise<Server> = () => startOurs(), when = ''): Promise<string[]> {
    const rows: string[] = [];
    for (const one of chosen) rows.push(...(await this.#compare(one, ours, when)));
    return rows;
  }

  /** Measures one dlx-broker when it is new, and again after minutes of work. RabbitMQ has run for long both times. */
  async aging(chosen: readonly Case[], minutes: number): Promise<string[]> {
    const server = await startOurs();
    try {
      const same = async (): Promise<Server> => ({ target: server.target, close: async () => undefined });
      const fresh = await this.all(chosen, same, '; fresh');
      await run('mixed.js', { target: server.target, minutes }, minutes * 60 + overheadLimit);
      return [...fresh, ...(await this.all(chosen, same, `; after ${minutes} minutes of mixed load`))];
    } finally {
      await server.close();
    }
  }

  /** Measures the servers in turn, A B A B, so that a change of the machine's speed affects all of them. */
  async #compare(one: Case, ours: () => Promise<Server>, when: string): Promise<string[]> {
    const own: Result[] = [];
    const theirs = (one.rivals ?? [rabbit]).map((rival) => ({ rival, results: [] as Result[] }));
    for (let run = 1; run <= this.runs; run++) {
      this.progress.step(`${one.id}, ${one.title}, ${one.client}${when}, run ${run} of ${this.runs}`);
      const mine = await this.#measure(one, one.start ?? ours);
      if (mine !== undefined) own.push(mine);
      for (const { rival, results } of theirs) {
        const other = await this.#measure(one, rival.open, rival);
        if (other !== undefined) results.push(other);
      }
    }
    const others = theirs.map(({ rival: { name, client = one.client }, results }) => ({ name, client, results }));
    return rowsOf({ ...one, title: `${one.title}${when}` }, own, others);
  }

  /** Opens a server, measures it, and closes it. */
  async #measure(one: Case, open: () => Promise<Server | undefined>, rival?: Rival): Promise<Result | undefined> {
    const server = await open();
    if (server === undefined) return undefined;
    const { pace } = this;
    try {
      const task = { key: keyOf(one), target: server.target, pace, rival: rival?.name };
      return JSON.parse(await run('child.js', task, pace.warm + pace.measured + overheadLimit)) as Result;
    } finally {
      await server.close();
      await sleep(settleTime);
    }
  }
}
