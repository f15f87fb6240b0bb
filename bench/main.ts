import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineLimits } from './machine.js';
import { type Measurement, median, type Workload } from './workload.js';
import { workloads } from './workloads/index.js';

/** Workloads by their names: `W9` is all that begin with it, `W9 emit` that one; all of them without one. */
const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    write: { type: 'string' },
  },
});
const child = fileURLToPath(new URL('child.js', import.meta.url));

function measure(workload: Workload, peer: string): Measurement {
  const output = execFileSync(process.execPath, ['--expose-gc', child, workload.id, peer], { encoding: 'utf8' });
  return JSON.parse(output) as Measurement;
}

/** The peers in turn, A B A B, so that a machine that slows down slows them all down. */
function compare(workload: Workload): string[] {
  const peers = Object.keys(workload.peers);
  const results = new Map(peers.map((peer) => [peer, [] as Measurement[]]));
  for (let run = 0; run < Number(options.runs); run++) {
    for (const peer of peers) results.get(peer)?.push(measure(workload, peer));
  }
  const ours = (results.get('dlx-broker') as Measurement[]).map(({ value }) => value);
  return peers.map((peer) => {
    const measured = results.get(peer) as Measurement[];
    const values = measured.map(({ value }) => value);
    const ratios = values.map((value, run) => {
      const own = ours[run] as number;
      return workload.more === 'better' ? own / value : value / own;
    });
    const extra = Object.entries(measured[0]?.extra ?? {}).map(([name]) => `${name}: ${extraOf(measured, name)}`);
    const lead = peer === 'dlx-broker' ? '' : `${median(ratios).toFixed(1)}x`;
    const range = `${shown(Math.min(...values))} - ${shown(Math.max(...values))}`;
    const cells = [workload.id, workload.title, peer, `${shown(median(values))} ${workload.unit}`, range, lead];
    return `| ${[...cells, extra.join(', ')].join(' | ')} |`;
  });
}

/** The median where it is a number. */
function extraOf(measured: readonly Measurement[], name: string): string {
  const all = measured.map(({ extra }) => extra?.[name] ?? '');
  const numbers = all.map(Number);
  return numbers.some(Number.isNaN) ? (all[0] as string) : String(median(numbers));
}

function shown(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

const lines = [
  `Node ${process.version}, ${availableParallelism()} cores, median of ${options.runs} runs, each in a process of its own, peers in turn.`,
  '',
  '| | workload | who | median | range | dlx-broker leads by | |',
  '|---|---|---|---|---|---|---|',
];
const isCalled = ({ id }: Workload, name: string): boolean => id === name || id.startsWith(`${name} `);
for (const name of wanted) {
  if (!workloads.some((one) => isCalled(one, name))) throw new Error(`there is no workload '${name}'`);
}
for (const workload of workloads) {
  if (wanted.length > 0 && !wanted.some((name) => isCalled(workload, name))) continue;
  const rows = compare(workload);
  for (const row of rows) console.log(row);
  lines.push(...rows);
}
const limits = Object.entries(await machineLimits()).map(([name, value]) => `${name} ${value.toFixed(0)} ns`);
lines.push('', `This machine: ${limits.join(', ')}.`, '');
console.log(`\n${lines.join('\n')}`);
if (options.write !== undefined) writeFileSync(options.write, lines.join('\n'));
