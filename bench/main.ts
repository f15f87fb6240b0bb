import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineLimits } from './machine.js';
import { load, machine } from './page.js';
import { programs } from './peers/programs.js';
import { versionsOf } from './peers/versions.js';
import { ratios } from './plot/ratios.js';
import { Progress } from './progress.js';
import { readable, type Result, type Row, rowsOf, times } from './results.js';
import { run } from './runner.js';
import { command, measuringOptions, wholeNumber } from './usage.js';
import { type Need, select, type Workload } from './workload.js';
import { workloads } from './workloads/index.js';

const plot = fileURLToPath(new URL('../benchmarks.svg', import.meta.url));

const help = `npm run bench -w bench -- [options] [NAME ...]

Measures this broker beside the peers that are installed. Every run is a process of its own, and the peers take turns.

  --only NAME   only this workload or family, such as W1 or 'W9 emit'; may be repeated
  --runs N      runs of each peer (default: 3)
  --help        shows this text

Workloads: ${workloads.map(({ id }) => id).join('; ')}

See also: npm run compare -w bench (two commits), costs (what grows with what), amqp, turns, client.`;

await command('npm run bench -w bench', async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: measuringOptions('3'),
  });
  if (values.help) return console.log(help);
  const runs = wholeNumber('--runs', values.runs, 1);
  const wanted = [...values.only, ...positionals];
  const chosen = select(workloads, wanted);
  await main(chosen, runs);
});

async function main(chosen: readonly Workload[], runs: number): Promise<void> {
  const versions = await versionsOf();
  const missing = (Object.keys(programs) as Need[]).filter(
    (need) => versions.get(need) === undefined && chosen.some(({ needs = {} }) => Object.values(needs).includes(need)),
  );
  for (const need of missing) console.log(`${programs[need].name} is not here: ${programs[need].install}.`);
  const peersOf = ({ peers, needs = {} }: Workload): readonly string[] =>
    Object.keys(peers).filter((peer) => !missing.includes(needs[peer] as Need));
  const before = load();
  const progress = new Progress(chosen.reduce((sum, one) => sum + peersOf(one).length * runs, 0));
  const results: Result[] = [];
  for (const workload of chosen) results.push(...(await run(workload, peersOf(workload), runs, progress)));
  progress.end();
  const rows = rowsOf(results);
  const counted = runs === 1 ? 'one run of each' : `medians of ${runs} runs`;
  const title = `dlx-broker beside its peers, ${counted}`;
  // The build before the run is part of this load.
  const isBusy = Number(before) > availableParallelism();
  const about = [
    `${machine()}. Load of the machine at the start and at the end: ${before} and ${load()}.`,
    `Versions: ${[...versions].flatMap(([name, version]) => (version === undefined ? [] : [`${name in programs ? programs[name as Need].name : name} ${version}`])).join(', ')}.`,
    ...(isBusy
      ? ['**The machine had much other work: trust the ratios of peers that work in the same way, and no figure.**']
      : []),
    `${chosen.length} of ${workloads.length} workloads, ${counted}. No workload draws random numbers, so there is no seed.`,
  ];
  const limits = Object.entries(await machineLimits()).map(([name, value]) => `${name} ${value.toFixed(0)} ns`);
  console.log([...readable(rows), '', ...about, `This machine: ${limits.join(', ')}.`].join('\n'));
  mkdirSync(dirname(plot), { recursive: true });
  writeFileSync(plot, plotOf(rows, title));
  console.log(`\nPlot: ${plot}`);
  if (results.some(({ failed }) => failed !== undefined)) process.exitCode = 1;
}

function plotOf(rows: readonly Row[], title: string): string {
  const groups = [...new Set(rows.map(({ workload }) => workload))].map((workload) => ({
    title: `${workload.id}: ${workload.title}`,
    bars: rows.flatMap((row) => {
      if (row.workload !== workload || row.lead === undefined) return [];
      return [{ name: row.peer, ratio: row.lead, shown: times(row.lead), isLimit: row.isLimit }];
    }),
  }));
  const below = 'How many times better dlx-broker is (logarithmic). Grey: a limit and no alternative.';
  return ratios(
    groups.filter(({ bars }) => bars.length > 0),
    title,
    below,
  );
}
