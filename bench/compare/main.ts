import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { load } from '../page.js';
import { Progress } from '../progress.js';
import { command, measuringOptions, UsageError, wholeNumber } from '../usage.js';
import { type Measurement, median, select, type Workload } from '../workload.js';
import { workloads } from '../workloads/index.js';
import { limit, type Pairs, verdictOf } from './verdict.js';
import { buildLibrary, commitOf, withBuilds } from './worktrees.js';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const own = 'dlx-broker';
/** They take minutes each, and measure waiting or ratios. */
const leftOut = ['W8 durable', 'W9 @Retry', 'W10 lateness'];
const comparable = workloads.filter(({ peers }) => peers[own] !== undefined);

const help = `npm run compare -w bench -- BASE [HEAD] [options]

Compares the processor time of two commits (HEAD: the commit of this checkout; what is not committed is not measured). Both are built in
worktrees in the folder for temporary files, and run the benchmark programs of this checkout in turn, A B A B. A workload that takes over
${limit * 100} % more processor time is measured once more, and is a regression if it still does; then the status is 1.

  --only NAME   only this workload or family; may be repeated (default: all but ${leftOut.join(', ')})
  --runs N      pairs of runs (default: 5)
  --help        shows this text

Workloads: ${comparable.map(({ id }) => id).join('; ')}`;

await command('npm run compare -w bench', async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: measuringOptions('5'),
  });
  if (values.help) return console.log(help);
  const [base, head = 'HEAD', ...more] = positionals;
  if (base === undefined || more.length > 0) throw new UsageError('give one commit or two: BASE [HEAD]');
  const runs = wholeNumber('--runs', values.runs, 1);
  const chosen = select(comparable, values.only).filter(({ id }) => values.only.length > 0 || !leftOut.includes(id));
  const commits = [await commitOf(root, base), await commitOf(root, head)] as const;
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  try {
    await main(commits, chosen, runs, controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    console.error('interrupted: the worktrees are removed');
    process.exitCode = 130;
  }
});

async function main(
  commits: readonly [string, string],
  chosen: readonly Workload[],
  runs: number,
  signal: AbortSignal,
): Promise<void> {
  const isChanged = execFileSync('git', ['-C', root, 'status', '--porcelain'], { encoding: 'utf8' }) !== '';
  if (isChanged)
    console.log('This checkout has changes that are not committed. They are not measured, except those of bench/.');
  const build = (folder: string): Promise<void> => buildLibrary(root, folder, signal);
  await withBuilds(commits, { root, signal, say: console.log, build }, async (folders) => {
    const before = load();
    const progress = new Progress(chosen.length * runs);
    const rows: string[][] = [['workload', 'base', 'head', 'head / base', 'range', '']];
    for (const workload of chosen) rows.push(await compare(workload, folders, runs, signal, progress));
    progress.end();
    const [base, head] = commits.map((commit) => commit.slice(0, 10));
    console.log(
      `Processor time in microseconds, medians. Base ${base}, head ${head}. Load of the machine: ${before} and ${load()}.\n`,
    );
    for (const line of aligned(rows)) console.log(line);
    const worse = rows.filter((row) => /^(SLOWER|FAILS)/.test(row.at(-1) as string)).length;
    console.log(worse === 0 ? '\nno regression' : `\n${worse} of ${chosen.length} workloads got worse`);
    if (worse > 0) process.exitCode = 1;
  });
}

/** One row: the pairs of a workload, and twice as many if they look like a regression. */
async function compare(
  workload: Workload,
  folders: readonly string[],
  runs: number,
  signal: AbortSignal,
  progress: Progress,
): Promise<string[]> {
  const pairs = { base: [] as number[], head: [] as number[] };
  const failed = new Set<keyof Pairs>();
  const pair = async (): Promise<void> => {
    for (const [index, side] of (['base', 'head'] as const).entries()) {
      const value = await measure(workload, folders[index] as string, signal);
      if (value === undefined) failed.add(side);
      else pairs[side].push(value);
    }
  };
  for (let run = 1; run <= runs; run++) {
    progress.step(`${workload.id}, pair ${run} of ${runs}`);
    if (failed.size === 0) await pair();
  }
  if (failed.size > 0)
    return [workload.id, '', '', '', '', failed.has('base') ? 'cannot run on base' : 'FAILS ON HEAD'];
  if (verdictOf(pairs).says === 'slower') for (let run = 1; run <= runs && failed.size === 0; run++) await pair();
  const { ratio, least, most, says } = verdictOf(pairs);
  const mark = says === 'slower' ? 'SLOWER' : says === 'faster' ? 'faster' : '';
  const figures = [median(pairs.base), median(pairs.head)].map((value) => value.toPrecision(4));
  return [workload.id, ...figures, ratio.toFixed(3), `${least.toFixed(2)} - ${most.toFixed(2)}`, mark];
}

/** Processor time; undefined if the run failed. */
async function measure(workload: Workload, folder: string, signal: AbortSignal): Promise<number | undefined> {
  const child = join(folder, 'dist/bench/child.js');
  try {
    const { stdout } = await execute(process.execPath, ['--expose-gc', child, workload.id, own], { signal });
    return (JSON.parse(stdout.trim().split('\n').at(-1) as string) as Measurement).cpu;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Columns of the same width; the first one to the left, the others to the right. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] as readonly string[]).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] as string).length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number),
      )
      .join('  ')
      .trimEnd(),
  );
}
