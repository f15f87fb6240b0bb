import { DlxConfigurationError } from '../../platform/options/index.js';
import { addedFamilies, handlerFamilies } from './dlx-families.js';
import { type Family, type Metric, pointsOf } from './family.js';
import type { MeteredSource, Scrape } from './meter.js';
import { aggregated } from './pages.js';
import type { MeteredHandlers } from './source.js';

/** The brokers of one registry. */
class RegisteredBrokers {
  readonly #handlers = new Set<MeteredHandlers>();
  #source: MeteredSource | undefined;
  #scrape: Promise<Scrape | undefined> | undefined;

  has(handlers: MeteredHandlers): boolean {
    return this.#handlers.has(handlers);
  }

  get handlers(): readonly MeteredHandlers[] {
    return [...this.#handlers];
  }

  /** The broker in this process. */
  get source(): MeteredSource | undefined {
    return this.#source;
  }

  add(handlers: MeteredHandlers, source: MeteredSource | undefined): void {
    this.#handlers.add(handlers);
    this.#source ??= source;
  }

  /** The numbers of one collection. A registry reads all of its metrics at once, and they share these numbers. */
  scrape(): Promise<Scrape | undefined> {
    if (this.#scrape === undefined) {
      this.#scrape = this.#take();
      const forget = (): void => void (this.#scrape = undefined);
      this.#scrape.then(forget, forget);
    }
    return this.#scrape;
  }

  async #take(): Promise<Scrape | undefined> {
    return (await this.#source?.meter)?.scrape('aggregated');
  }
}

/** A registry of prom-client 15. Only the members that are used here, so that an application without prom-client compiles. */
export interface AnyRegistry {
  readonly contentType: string;
  getSingleMetric(name: string): unknown;
  registerMetric(metric: object): void;
}

/** A value as prom-client wants it. */
interface PromValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly metricName?: string;
}

/** A metric of a registry that is read when the registry is. */
class RegisteredMetric {
  /** prom-client takes `_total` away for OpenMetrics, and puts it back itself. */
  name: string;
  readonly help: string;
  readonly aggregator = 'sum';

  constructor(
    readonly brokers: RegisteredBrokers,
    private readonly registry: AnyRegistry,
    private readonly family: Family,
    private readonly read: () => Promise<readonly PromValue[]>,
  ) {
    this.name = family.name;
    this.help = family.help;
  }

  /** OpenMetrics has another word for untyped metrics. */
  get type(): string {
    const { type } = this.family;
    return type === 'untyped' && this.registry.contentType.startsWith('application/openmetrics') ? 'unknown' : type;
  }

  async get(): Promise<object> {
    const values = await this.read();
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values };
  }

  /** The counts belong to the broker: they are not set back. */
  reset(): void {}
}

/**
 * Adds the metrics of a broker to a registry. Several brokers may share a registry, if at most one of them is in this process.
 * @throws DlxConfigurationError when the broker, a second one of this process, or a metric of such a name is there already
 */
export function registerMetrics(
  registry: AnyRegistry,
  handlers: MeteredHandlers,
  source: MeteredSource | undefined,
  origin: string,
): void {
  const first = registry.getSingleMetric(handlerFamilies[0]?.name ?? '');
  const brokers = first instanceof RegisteredMetric ? first.brokers : new RegisteredBrokers();
  if (brokers.has(handlers)) throw new DlxConfigurationError(`${origin} is in this registry already: register it once`);
  if (source !== undefined && brokers.source !== undefined && brokers.source.engine !== source.engine) {
    const remedy = 'give each a registry of its own, with a path of its own';
    throw new DlxConfigurationError(`${origin}: another broker of this process is in this registry; ${remedy}`);
  }
  const isNew = !(first instanceof RegisteredMetric);
  const metrics = [
    ...(isNew ? [...handlerFamilies, ...addedFamilies([handlers])] : []).map((family) =>
      ofHandlers(brokers, registry, family),
    ),
    ...(source !== undefined && brokers.source === undefined
      ? aggregated.map((family) => ofBroker(brokers, registry, family))
      : []),
  ];
  const taken = metrics.find(({ name }) => registry.getSingleMetric(name) !== undefined);
  if (taken !== undefined) {
    throw new DlxConfigurationError(
      `${origin}: the registry has a metric '${taken.name}' of other code; give the broker another registry`,
    );
  }
  brokers.add(handlers, source);
  for (const metric of metrics) registry.registerMetric(metric);
}

const ofHandlers = (
  brokers: RegisteredBrokers,
  registry: AnyRegistry,
  family: Metric<readonly MeteredHandlers[]>,
): RegisteredMetric => new RegisteredMetric(brokers, registry, family, async () => valuesOf(family, brokers.handlers));

const ofBroker = (
  brokers: RegisteredBrokers,
  registry: AnyRegistry,
  family: (typeof aggregated)[number],
): RegisteredMetric =>
  new RegisteredMetric(brokers, registry, family, async () => {
    const scrape = await brokers.scrape();
    return scrape === undefined ? [] : valuesOf(family, scrape);
  });

function valuesOf<T>(family: Metric<T>, from: T): readonly PromValue[] {
  const values: PromValue[] = [];
  for (const series of family.read(from)) {
    const labels = Object.fromEntries(family.labels.map((name, place) => [name, series.labels[place] ?? '']));
    if (typeof series.value === 'number') {
      values.push({ labels, value: series.value });
      continue;
    }
    for (const { suffix, le, count } of pointsOf(series.value)) {
      const all = le === undefined ? labels : { ...labels, le };
      values.push({ labels: all, value: count, metricName: `${family.name}${suffix}` });
    }
  }
  return values;
}
