import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load, machine } from '../page.js';
import { command, positiveNumber, UsageError, wholeNumber } from '../usage.js';
import { faultsOf, plotOf, tablesOf } from './report.js';
import { soak, type SoakResult } from './run.js';

const plot = fileURLToPath(new URL('../../soak.svg', import.meta.url));

const help = `npm run soak -w bench -- [options]

Runs a dlx-broker with a data directory under mixed load, kills its clients and the server itself, and accounts for every message.
Ends with status 1 if a message is lost or a figure grows. Ctrl+C ends the load early; the account is closed all the same.

  --minutes N     how long the load lasts (default: 60)
  --seed N        decides what happens when (default: from the time)
  --rate N        messages a second (default: 400)
  --data DIR      where the data directory is made (default: the folder for temporary files)
  --samples FILE  writes the whole result as JSON
  --from FILE     reports such a file, and runs nothing
  --help          shows this text`;

/** A finished soak, and what it ran with. */
interface SoakRecord {
  readonly result: SoakResult;
  readonly about: string;
}

await command('npm run soak -w bench', async () => {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Math.floor(Date.now() / 1_000)) },
      rate: { type: 'string', default: '400' },
      data: { type: 'string', default: tmpdir() },
      samples: { type: 'string' },
      from: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(help);
  const minutes = positiveNumber('--minutes', values.minutes);
  const seed = wholeNumber('--seed', values.seed, 0);
  const rate = wholeNumber('--rate', values.rate, 1);
  for (const [option, path] of Object.entries({ '--data': values.data, '--from': values.from })) {
    if (path !== undefined && !existsSync(path)) throw new UsageError(`${option}: there is no '${path}'`);
  }
  const record =
    values.from === undefined
      ? await fresh(minutes, seed, rate, values.data)
      : (JSON.parse(readFileSync(values.from, 'utf8')) as SoakRecord);
  if (values.samples !== undefined) writeFileSync(values.samples, JSON.stringify(record));
  report(record);
});
// The timers of clients that were cut off do not hold the process.
process.exit();

async function fresh(minutes: number, seed: number, rate: number, parent: string): Promise<SoakRecord> {
  const folder = mkdtempSync(join(parent, 'dlx-broker-soak-'));
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  const before = load();
  console.log(`seed ${seed}, ${minutes} minutes, ${rate} messages a second`);
  try {
    const result = await soak({ minutes, seed, rate, folder, signal: controller.signal, say: console.log });
    const of = minutes * 60 > result.seconds + 1 ? ` of ${minutes}` : '';
    const about = [
      `${(result.seconds / 60).toFixed(0)}${of} minutes with the seed ${seed} at ${rate} messages a second.`,
      `${machine()}. Load of the machine at the start and at the end: ${before} and ${load()}.`,
    ];
    return { result, about: about.join(' ') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report({ result, about }: SoakRecord): void {
  writeFileSync(plot, plotOf(result, `A soak of ${(result.seconds / 60).toFixed(0)} minutes`));
  console.log([about, '', ...tablesOf(result), '', `Plot: ${plot}`].join('\n'));
  const faults = faultsOf(result);
  for (const fault of faults.slice(0, 50)) console.error(`FAULT: ${fault}`);
  if (faults.length > 50) console.error(`and ${faults.length - 50} more faults`);
  if (faults.length > 0) process.exitCode = 1;
}
