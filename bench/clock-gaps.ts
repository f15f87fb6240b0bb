import { spawn } from 'node:child_process';
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataFolder } from './amqp/data-folder.js';
import { endWithHelp } from './usage.js';

endWithHelp(`node dist/bench/clock-gaps.js

Shows what this machine adds to the longest turns that 'pauses' measures. One process only reads the clock for 15 seconds: alone, and beside a process
that writes a file of 1 GB again and again. Prints the gaps of at least 5 ms between two reads. Processor time that equals the elapsed time means that
the system counts the gaps as work of the process. Use it on a machine with two cores or more and no other work.`);

const seconds = 15;
/** Milliseconds. */
const shortestGap = 5;
const fileBytes = 1_000_000_000;
const piece = Buffer.alloc(1_000_000);

const [role, file] = process.argv.slice(2);
if (role === 'write') write(file as string);
else await compare();

async function compare(): Promise<void> {
  readClock('alone');
  const { folder, remove } = dataFolder('clock-gaps');
  const args = [fileURLToPath(import.meta.url), 'write', join(folder, 'written')];
  const writer = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  readClock('beside a process that writes to the disk');
  writer.kill();
  remove();
}

function readClock(name: string): void {
  const gaps: number[] = [];
  const before = process.cpuUsage();
  const begun = performance.now();
  let last = begun;
  while (last - begun < seconds * 1_000) {
    const now = performance.now();
    if (now - last >= shortestGap) gaps.push(now - last);
    last = now;
  }
  const { user, system } = process.cpuUsage(before);
  const spent = ((user + system) / 1e6).toFixed(1);
  const shown = gaps.length === 0 ? 'no gaps' : `gaps of ${gaps.map((gap) => gap.toFixed(0)).join(', ')} ms`;
  console.log(`${name}: ${shown}, ${spent} s of processor time in ${seconds} s`);
}

/** Writes the same file again and again, for longer than the other process reads the clock, which then kills this one. */
function write(path: string): void {
  const handle = openSync(path, 'w');
  const end = performance.now() + 2 * seconds * 1_000;
  while (performance.now() < end) {
    for (let at = 0; at < fileBytes; at += piece.length) writeSync(handle, piece, 0, piece.length, at);
    fdatasyncSync(handle);
  }
}
