import { labelled, type Metric, type Series, single } from '../family.js';
import type { Scrape } from '../scrape.js';
import type { Kind, ObjectNumber } from './objects.js';

/** The metrics of a kind as sums over all objects. */
export const summed = <T>(kind: Kind<T>, sumsOf: (scrape: Scrape) => readonly number[]): readonly Metric<Scrape>[] =>
  kind.numbers.map(({ name, help }, place) =>
    single(`rabbitmq_${name}`, 'gauge', help, (scrape) => sumsOf(scrape)[place] ?? 0),
  );

/** The metrics of a kind with a series for each object. */
export const each = <T>(
  kind: Kind<T>,
  objectsOf: (scrape: Scrape) => Iterable<T>,
  numbers: readonly ObjectNumber<T>[] = kind.numbers,
  prefix = 'rabbitmq_',
): readonly Metric<Scrape>[] =>
  numbers.map(({ name, help, read }) =>
    labelled(`${prefix}${name}`, 'gauge', kind.labels, help, function* (scrape): Generator<Series, void, void> {
      for (const object of objectsOf(scrape)) yield { labels: kind.labelsOf(object), value: read(object) };
    }),
  );
