import { parseArgs } from 'node:util';
import { command, wholeNumber } from '../usage.js';
import { median } from '../workload.js';
import { programsWith } from './programs.js';
import { ownImport, packagesOfStart, serveReady, type Times, wholeProcess } from './run.js';

const help = `npm run start -w bench -- [--runs N]

Measures starts: of a Nest application with the module beside a bare one, of the import of the package, and of 'dlx-broker serve'.
The programs take turns; the table has the median and the fastest (default: 15 runs). The script builds the package first.`;

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

await command('npm run start -w bench', async () => {
  const { values } = parseArgs({ options: { runs: { type: 'string', default: '15' }, help: { type: 'boolean' } } });
  if (values.help === true) return console.log(help);
  const runs = wholeNumber('--runs', values.runs, 1);
  const packages = packagesOfStart();
  const programs = programsWith(packages);
  const measured: readonly (readonly [string, () => Times | Promise<Times>])[] = [
    ...programs.map(({ name, program }) => [name, () => wholeProcess(program)] as const),
    ["import 'dlx-broker': its own files", () => ownImport(packages)],
    ['dlx-broker serve, until it is ready', () => serveReady([])],
    ['the same with --http', () => serveReady(['--http', '127.0.0.1:0'])],
  ];
  const results = new Map(measured.map(([name]) => [name, [] as Times[]]));
  // One run before, so that the files are in the cache of the system.
  for (let run = -1; run < runs; run++) {
    for (const [name, measure] of measured) {
      const times = await measure();
      if (run >= 0) results.get(name)?.push(times);
    }
  }
  const all = (name: string, kind: keyof Times): number[] => (results.get(name) ?? []).map((one) => one[kind]);
  const of = (name: string, kind: keyof Times): number => median(all(name, kind));
  const shown = (name: string, kind: keyof Times): string =>
    `${of(name, kind).toFixed(0)} (${Math.min(...all(name, kind)).toFixed(0)})`;
  console.log(`Node ${process.version}, medians of ${runs} runs in turn, and the fastest of them, milliseconds.\n`);
  console.log(line(['', 'time', 'processor', 'over', 'time over it', 'processor over it']));
  console.log(line(Array<string>(6).fill('---')));
  for (const [name] of measured) {
    const base = programs.find((one) => one.name === name)?.beside;
    const over = (kind: keyof Times): string =>
      base === undefined ? '' : (of(name, kind) - of(base, kind)).toFixed(0);
    const both = [shown(name, 'wall'), shown(name, 'processor')];
    console.log(line([name, ...both, base ?? '', over('wall'), over('processor')]));
  }
});
