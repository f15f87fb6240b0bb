import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { dataFolder } from './amqp/data-folder.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/clock-gaps.js

Shows what this machine adds to the longest turns that 'pauses' measures. One process for each processor only reads the clock, for 15 seconds: with no
other work, beside a process that writes a file of 1 GB again and again, and beside one that takes a quarter of the free memory, writes to each page
and gives the memory back. Prints when no process could read the clock for at least 10 ms: then the machine stood still, and a program sees that time as
its own processor time. Stops that end at the same point of every 100 ms are those of a limit of processor time (a CFS quota of the host or of a
container), which starts again every 100 ms. Use it on a machine with two processors or more and no other work.`);

interface Gap {
  /** Milliseconds of the clock that all processes of the machine share. */
  readonly start: number;
  readonly end: number;
}

const seconds = 15;
/** Milliseconds: the gaps that a reader reports, and the stops of the machine that are printed. A change of process takes 4 to 8. */
const shortestGap = 5;
const shortestStop = 10;
/** Milliseconds: how often a limit of processor time starts again, and how near to one point of it the stops of a limit end. */
const period = 100;
const near = 2;
const piece = Buffer.alloc(1_000_000);
const fileBytes = 1_000_000_000;
const memoryBytes = 256 << 20;
const pageBytes = 4_096;

const [role, file] = process.argv.slice(2);
if (role === 'read') read();
else if (role === 'write') write(file as string);
else if (role === 'touch') touch();
else await compare();

async function compare(): Promise<void> {
  const { folder, remove } = dataFolder('clock-gaps');
  await measure('no other work');
  await measure('beside a process that writes to the disk', 'write', join(folder, 'written'));
  await measure('beside a process that takes memory', 'touch');
  remove();
}

async function measure(name: string, ...other: readonly string[]): Promise<void> {
  const worker = other.length === 0 ? undefined : start(other);
  const readers = Array.from({ length: availableParallelism() }, () => start(['read']));
  const gaps = await Promise.all(
    readers.map(async ({ stdout }) => JSON.parse(await text(stdout as NonNullable<typeof stdout>)) as Gap[]),
  );
  if (worker?.exitCode === null) {
    worker.kill();
    await once(worker, 'exit');
  }
  console.log(`${name}: ${describe(gaps.reduce(inBoth).filter(({ start, end }) => end - start >= shortestStop))}`);
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The times that lie in a gap of either list, both in the order of time. */
function inBoth(some: readonly Gap[], others: readonly Gap[]): Gap[] {
  const common = others.flatMap((other) =>
    some.map((one) => ({ start: Math.max(one.start, other.start), end: Math.min(one.end, other.end) })),
  );
  return common.filter(({ start, end }) => end > start);
}

function describe(stops: readonly Gap[]): string {
  if (stops.length === 0) return `no stop of ${shortestStop} ms`;
  const lengths = stops.map(({ start, end }) => (end - start).toFixed(0)).join(', ');
  const atOnePoint = Math.max(
    ...stops.map(({ end }) => stops.filter((other) => distance(end, other.end) <= near).length),
  );
  return `${stops.length} stops, of ${lengths} ms; ${atOnePoint} of them end at the same point of every ${period} ms`;
}

/** How far two times are apart in their period. */
function distance(one: number, another: number): number {
  const apart = Math.abs(one - another) % period;
  return Math.min(apart, period - apart);
}

/** Milliseconds of the clock that all processes of the machine share. */
function clock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function read(): void {
  const gaps: Gap[] = [];
  const begun = clock();
  let last = begun;
  while (last - begun < seconds * 1_000) {
    const now = clock();
    if (now - last >= shortestGap) gaps.push({ start: last, end: now });
    last = now;
  }
  process.stdout.write(JSON.stringify(gaps));
}

/** Writes the same file again and again, for longer than the other processes read the clock, of which the first one ends this one. */
function write(path: string): void {
  const handle = openSync(path, 'w');
  repeat(() => {
    for (let at = 0; at < fileBytes; at += piece.length) writeSync(handle, piece, 0, piece.length, at);
    fdatasyncSync(handle);
  });
}

/** Writes to each page of new memory, as long as {@link write}, and gives the memory back at a quarter of what is free. */
function touch(): void {
  const most = freemem() / 4;
  let taken: Uint8Array[] = [];
  repeat(() => {
    const memory = new Uint8Array(memoryBytes);
    for (let at = 0; at < memory.length; at += pageBytes) memory[at] = 1;
    taken.push(memory);
    if (taken.length * memoryBytes >= most) taken = [];
  });
}

function repeat(work: () => void): void {
  const end = clock() + 2 * seconds * 1_000;
  while (clock() < end) work();
}
