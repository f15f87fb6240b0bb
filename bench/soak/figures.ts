import type { Panel } from '../plot/lines.js';
import type { Sample, SoakResult } from './run.js';
import { settled } from './schedule.js';
import { type Drift, driftOf } from './slope.js';

/** A figure of the server that has to stay flat. */
export interface Figure {
  /** The panel of the plot. */
  readonly panel: string;
  readonly name: string;
  readonly unit: string;
  readonly of: (sample: Sample) => number;
}

/** What is measured, and has to be flat. */
export const figures: readonly Figure[] = [
  { panel: 'memory', name: 'resident', unit: 'MB', of: ({ resident }) => resident / 1e6 },
  { panel: 'memory', name: 'in use after a collection', unit: 'MB', of: ({ used }) => used / 1e6 },
  { panel: 'open descriptors', name: 'descriptors', unit: 'number', of: ({ descriptors }) => descriptors },
  { panel: 'data directory on disk', name: 'disk', unit: 'MB', of: ({ disk }) => disk / 1e6 },
  { panel: 'publish to delivery', name: 'half of the messages', unit: 'ms', of: ({ delivered }) => delivered },
  { panel: 'publish to delivery', name: '99 of 100', unit: 'ms', of: ({ deliveredLate }) => deliveredLate },
  { panel: 'publish to durable confirm', name: 'half of the messages', unit: 'ms', of: ({ confirmed }) => confirmed },
  { panel: 'publish to durable confirm', name: '99 of 100', unit: 'ms', of: ({ confirmedLate }) => confirmedLate },
];

/** Panels of the plot, in the order of the figures. */
export function panelsOf(samples: readonly Sample[]): Panel[] {
  const panels = new Map<string, { title: string; unit: string; lines: Panel['lines'][number][] }>();
  for (const { panel, name, unit, of } of figures) {
    const points = samples.map((sample) => [sample.time / 60, of(sample)] as const);
    if (!points.some(([, value]) => Number.isFinite(value))) continue;
    const known = panels.get(panel) ?? { title: panel, unit, lines: [] };
    panels.set(panel, { ...known, lines: [...known.lines, { name, points }] });
  }
  const handled = samples.map(({ time, handled: value }) => [time / 60, value] as const);
  return [
    ...panels.values(),
    { title: 'messages that workers handled', unit: 'a second', lines: [{ name: 'handled', points: handled }] },
  ];
}

/** Samples of the longest life of the server, without its warm-up. */
export function settledOf({ samples, planned }: Pick<SoakResult, 'samples' | 'planned'>): readonly Sample[] {
  const inside = samples.filter(({ time }) => time >= settled.from * planned && time < settled.to * planned);
  return inside.filter(({ life }) => life === inside[0]?.life);
}

/** The drift of each figure over the settled part; undefined if there are too few samples. */
export function driftsOf(
  result: Pick<SoakResult, 'samples' | 'planned'>,
): readonly (readonly [Figure, Drift | undefined])[] {
  const samples = settledOf(result);
  return figures.map((figure) => {
    const points = samples
      .map((sample) => ({ time: sample.time, value: figure.of(sample) }))
      .filter(({ value }) => Number.isFinite(value));
    return [figure, points.length < 8 ? undefined : driftOf(points)];
  });
}
