import { lines } from '../plot/lines.js';
import { driftsOf, panelsOf, settledOf } from './figures.js';
import type { SoakResult } from './run.js';
import { settled } from './schedule.js';
import type { Drift } from './slope.js';

/** Everything that is wrong: messages, and figures that grow. */
export function faultsOf(result: SoakResult): readonly string[] {
  const grown = driftsOf(result)
    .filter(([, drift]) => drift?.verdict === 'grows')
    .map(([{ name, unit }, drift]) => `${name} (${unit}) grows: ${changeOf(drift as Drift)}`);
  return [...result.wrong, ...grown];
}

export function plotOf(result: SoakResult, title: string): string {
  const { from, to } = settled;
  const minutes = result.planned / 60;
  return lines(panelsOf(result.samples), {
    title,
    minutes,
    marks: result.starts
      .slice(1)
      .map(({ time }) => time / 60)
      .filter((time) => time < minutes),
    shaded: { from: from * minutes, to: to * minutes },
    foot: 'Minutes. Dashed: the server was killed or stopped, and started again. Shaded: the part over which slopes are taken.',
  });
}

/** The two tables: figures, and messages. */
export function tablesOf(result: SoakResult): readonly string[] {
  const samples = settledOf(result);
  const [first, last] = [samples[0]?.time ?? 0, samples.at(-1)?.time ?? 0];
  const rows = driftsOf(result).map(([{ panel, name, unit }, drift]) => {
    const shown = drift && [drift.median.toPrecision(3), changeOf(drift), drift.verdict];
    return [panel === name ? name : `${panel}: ${name}`, unit, ...(shown ?? ['', 'too few samples', ''])];
  });
  const { totals, happened, starts, connections } = result;
  const count = (value: number | undefined): string => (value ?? 0).toLocaleString('en');
  return [
    `Slopes over ${samples.length} samples, from minute ${(first / 60).toFixed(1)} to minute ${(last / 60).toFixed(1)}:`,
    '',
    '| figure | unit | median | change over that time (99 % interval) | verdict |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
    '| messages and events | |',
    '|---|---|',
    ...[
      ['numbered messages published', count(totals.published)],
      ['confirmed', count(totals.confirmed)],
      ['handled', count(totals.handled)],
      ['handled again, after an ack that a lost connection made uncertain', count(totals.again)],
      ['never confirmed, and lost with their connection', count(totals.unconfirmedLost)],
      ['**wrong: lost, unknown, or again without a reason**', `**${count(result.wrong.length)}**`],
      ['clients killed', count(happened['kill a client'])],
      ['connections made', count(connections)],
      ['policies set or cleared', count(happened['policy'])],
      ['redrives', count(happened['redrive'])],
      ['servers killed, stopped', `${count(happened['kill the server'])}, ${count(happened['stop the server'])}`],
      ['longest start of the server', `${(Math.max(...starts.map(({ took }) => took)) / 1_000).toFixed(1)} s`],
    ].map((row) => `| ${row.join(' | ')} |`),
  ];
}

const changeOf = ({ change, from, to }: Drift): string => `${percent(change)} (${percent(from)} to ${percent(to)})`;

function percent(share: number): string {
  const text = (share * 100).toFixed(1);
  return `${share > 0 ? '+' : ''}${text} %`;
}
