import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOf, type Target } from './target.js';

/** The result of one run against one server. */
export interface Result {
  /** In the unit of the case. */
  readonly value: number;
  /** Microseconds of processor time for each message, of the server and of the load program. */
  readonly serverCpu?: number;
  readonly clientCpu?: number;
  /** Other values, by name. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** The duration of a run, in seconds. */
export interface Pace {
  readonly warm: number;
  readonly measured: number;
}

interface Reading {
  readonly time: number;
  readonly count: number;
  readonly server: number;
  readonly client: number;
}

function read({ pid }: Target, count: number): Reading {
  const { user, system } = process.cpuUsage();
  return { time: performance.now(), count, server: cpuOf(pid), client: user + system };
}

function between(from: Reading, to: Reading): Result {
  const count = to.count - from.count;
  return {
    value: count / ((to.time - from.time) / 1000),
    serverCpu: (to.server - from.server) / count,
    clientCpu: (to.client - from.client) / count,
  };
}

/** The rate of a running program after its warm-up. @param done returns the number of handled messages */
export async function rateOf(target: Target, { warm, measured }: Pace, done: () => number): Promise<Result> {
  await sleep(warm * 1000);
  const start = read(target, done());
  await sleep(measured * 1000);
  return between(start, read(target, done()));
}

/** The rate of a program that ends. @param run returns the number of messages */
export async function rateOfAll(target: Target, run: () => Promise<number>): Promise<Result> {
  const start = read(target, 0);
  const count = await run();
  return between(start, read(target, count));
}

/** Waits until a condition is true. @throws after a time limit */
export async function until(isSo: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not true after ${seconds} s: ${String(isSo)}`);
    await sleep(2);
  }
}
