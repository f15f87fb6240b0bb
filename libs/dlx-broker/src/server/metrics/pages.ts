import type { VirtualHost } from '../../engine/broker/index.js';
import type { DeadLetterGraphs } from '../index.js';
import { addedFamilies, handlerFamilies, letterFamilies, processFamilies } from './dlx-families.js';
import { type Family, labelled, type Metric, type Series, single, textOf } from './family.js';
import type { Endpoint, Meter, Scrape } from './meter.js';
import { channelKind, connectionKind, type Kind, type ObjectNumber, queueKind, queueNumbers } from './objects.js';
import { globalFamilies, infoFamilies, nodeFamilies } from './rabbitmq-families.js';

/** The metrics of a kind as sums over all objects. */
const summed = <T>(kind: Kind<T>, sumsOf: (scrape: Scrape) => readonly number[]): readonly Metric<Scrape>[] =>
  kind.numbers.map(({ name, help }, place) =>
    single(`rabbitmq_${name}`, 'gauge', help, (scrape) => sumsOf(scrape)[place] ?? 0),
  );

/** The metrics of a kind with a series for each object. */
const each = <T>(
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

/** A request for a page. */
export interface PageRequest {
  readonly endpoint: Endpoint;
  /** The virtual hosts to show. Default: all. */
  readonly vhosts?: readonly VirtualHost[];
  /** For `detailed`: the groups of metrics to show, by RabbitMQ's names. */
  readonly families?: readonly string[];
}

/** Every metric of a broker on `/metrics`. */
export const aggregated: readonly Metric<Scrape>[] = [
  ...infoFamilies,
  ...nodeFamilies,
  ...summed(queueKind, ({ totals }) => totals.ofQueues),
  ...summed(channelKind, ({ totals }) => totals.ofChannels),
  ...summed(connectionKind, ({ totals }) => totals.ofConnections),
  ...globalFamilies,
  ...letterFamilies,
  ...processFamilies,
];

const perObject: readonly Metric<Scrape>[] = [
  ...infoFamilies,
  ...nodeFamilies,
  ...each(queueKind, ({ queues }) => queues),
  ...each(channelKind, ({ channels }) => channels),
  ...each(connectionKind, ({ connections }) => connections),
  ...globalFamilies,
  ...letterFamilies,
  ...processFamilies,
];

const prefix = 'rabbitmq_detailed_';

const ofQueues = (numbers: typeof queueKind.numbers): readonly Metric<Scrape>[] =>
  each(queueKind, ({ queues }) => queues, numbers, prefix);

/** The groups of `/metrics/detailed`. */
const groups: ReadonlyMap<string, readonly Metric<Scrape>[]> = new Map([
  ['queue_coarse_metrics', ofQueues(queueNumbers.queue_coarse_metrics)],
  ['queue_consumer_count', ofQueues(queueNumbers.queue_consumer_count)],
  ['queue_metrics', ofQueues(queueNumbers.queue_metrics)],
  ['channel_metrics', each(channelKind, ({ channels }) => channels, channelKind.numbers, prefix)],
  ['connection_metrics', each(connectionKind, ({ connections }) => connections, connectionKind.numbers, prefix)],
]);

export const groupNames: readonly string[] = [...groups.keys()];

function familiesOf({ endpoint, families = [] }: PageRequest): readonly Metric<Scrape>[] {
  if (endpoint === 'aggregated') return aggregated;
  if (endpoint === 'per-object') return perObject;
  return [...infoFamilies, ...new Set(families)].flatMap((group) =>
    typeof group === 'string' ? (groups.get(group) ?? []) : [group],
  );
}

/**
 * A page in Prometheus' text format. It is made while its reader reads, so the
 * numbers of a long page are of different moments.
 */
export async function pageOf(
  meter: Meter,
  request: PageRequest,
  graphs?: DeadLetterGraphs,
): Promise<Generator<string, void, void>> {
  const scrape = await meter.scrape(request.endpoint, request.vhosts, graphs);
  return linesOf(meter, request, scrape);
}

function* linesOf(
  { handlers }: Meter,
  request: PageRequest,
  scrape: Scrape | undefined,
): Generator<string, void, void> {
  if (scrape !== undefined) {
    for (const metric of familiesOf(request)) yield* textOf(metric, scrape);
  }
  if (request.endpoint === 'detailed') return;
  const all = [...handlers];
  for (const metric of [...handlerFamilies, ...addedFamilies(all)]) yield* textOf(metric, all);
}

/** Every metric of `/metrics`, without those that an application adds. */
export const metricTable: readonly Family[] = [...aggregated, ...handlerFamilies];
