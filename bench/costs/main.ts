import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { load, machine } from '../page.js';
import { Progress } from '../progress.js';
import { shown } from '../results.js';
import { command, measuringOptions, UsageError, wholeNumber } from '../usage.js';
import { median } from '../workload.js';
import type { Cost, Scene } from './scene.js';
import { scenes } from './scenes.js';

const child = fileURLToPath(new URL('child.js', import.meta.url));

const help = `npm run costs -w bench -- [options]

Measures memory and processor time of one connection, channel, queue, message and so on, where there are many of them, and whether a thing
costs more where there are ten times as many.

  --only NAME   only this thing; may be repeated
  --runs N      runs, of which the median counts (default: 3)
  --help        shows this text

Things: ${scenes.map(({ thing }) => thing).join('; ')}`;

await command('npm run costs -w bench', async () => {
  const { values } = parseArgs({
    options: measuringOptions('3'),
  });
  if (values.help) return console.log(help);
  const runs = wholeNumber('--runs', values.runs, 1);
  for (const name of values.only) {
    if (!scenes.some(({ thing }) => thing === name)) {
      throw new UsageError(`there is no '${name}'; there are ${scenes.map(({ thing }) => `'${thing}'`).join(', ')}`);
    }
  }
  const chosen = scenes.filter(({ thing }) => values.only.length === 0 || values.only.includes(thing));
  const before = load();
  const progress = new Progress(chosen.length * runs);
  const rows: string[][] = [];
  for (const scene of chosen) rows.push(await rowOf(scene, runs, progress));
  progress.end();
  const lines = [
    `${machine()}. Load of the machine at the start and at the end: ${before} and ${load()}. Medians of ${runs} runs, each in a process of its own.`,
    '',
    '| thing | made | bytes | µs to make | as many as a tenth | µs to remove | as many as a tenth |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ];
  console.log(lines.join('\n'));
});

/** The scene with all of its things, and in turn with a tenth of them. */
async function rowOf(scene: Scene, runs: number, progress: Progress): Promise<string[]> {
  const [few, many] = [[] as Cost[], [] as Cost[]];
  for (let run = 1; run <= runs; run++) {
    progress.step(`${scene.thing}, run ${run} of ${runs}`);
    few.push(await measure(scene, scene.count / 10));
    many.push(await measure(scene, scene.count));
  }
  const of = (costs: readonly Cost[], pick: (cost: Cost) => number): number => median(costs.map(pick));
  const ratio = (pick: (cost: Cost) => number): string => (of(many, pick) / of(few, pick)).toFixed(2);
  return [
    `${scene.thing}: ${scene.details}`,
    scene.count.toLocaleString('en'),
    shown(of(many, ({ bytes }) => bytes)),
    two(of(many, ({ made }) => made)),
    `x ${ratio(({ made }) => made)}`,
    two(of(many, ({ removed }) => removed)),
    `x ${ratio(({ removed }) => removed)}`,
  ];
}

/** Two digits that count: 0.25, 11,000. */
function two(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString('en');
}

async function measure({ thing }: Scene, count: number): Promise<Cost> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child, thing, String(count)]);
  return JSON.parse(stdout.trim().split('\n').at(-1) as string) as Cost;
}
