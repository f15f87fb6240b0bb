import { EmbeddedBackend } from '../../backends/index.js';
import { Broker, type BrokerOptions, type ProfileName, profiles } from '../../engine/broker/index.js';
import { oneOf, optionsOf, refused } from '../../platform/options/index.js';
import { CountedNames } from './counted-names.js';
import { ManualClock } from './manual-clock.js';
import { QueueView } from './queue-view.js';

/** The start of the clock of a test, and options of its broker. */
export interface HarnessOptions {
  /** The instant at which the clock starts: a Date, or milliseconds since 1970. */
  readonly start?: Date | number;
  /** Default `/`. */
  readonly vhost?: string;
  /** Which RabbitMQ the broker behaves like. */
  readonly rabbitmq?: ProfileName;
}

/** A broker for one test. Time moves only with the clock, and generated names are counted. */
export interface Harness {
  readonly clock: ManualClock;
  readonly broker: Broker;
  readonly backend: EmbeddedBackend;
  /** The state of a queue, which may not exist yet. */
  queue(name: string): QueueView;
}

/** Patterns of policies as regular expressions of JavaScript: a test writes them itself. */
const patterns: BrokerOptions['patterns'] = {
  compile(pattern) {
    const expression = new RegExp(pattern);
    return { matches: (name) => expression.test(name) };
  },
};

/** Every option of a harness. */
export const harnessOptions = ['start', 'vhost', 'rabbitmq'] as const;

/**
 * Makes a broker for one test, with a manual clock and a backend.
 * @throws DlxConfigurationError for an unknown option, and for a start that is no time
 */
export const harness = (options: HarnessOptions = {}): Harness => harnessOf(options, 'harness');

/** @param origin whose options they are, for errors */
export function harnessOf(options: HarnessOptions, origin: string): Harness {
  const given = optionsOf<HarnessOptions>(options, origin, 'write { start: new Date() }', harnessOptions);
  const { start, vhost = '/', rabbitmq } = given;
  if (start !== undefined && !Number.isFinite(start instanceof Date ? start.getTime() : start)) {
    throw refused(start, `start of ${origin}`, 'is no time; write a Date, or milliseconds since 1970');
  }
  if (rabbitmq !== undefined) oneOf(...Object.keys(profiles)).read(rabbitmq, `rabbitmq of ${origin}`);
  const clock = new ManualClock(start);
  const broker = new Broker({
    clock,
    names: new CountedNames(),
    patterns,
    ...(rabbitmq === undefined ? {} : { rabbitmq }),
  });
  broker.addVirtualHost(vhost);
  const queues = () => broker.virtualHosts.get(vhost)?.queues;
  const backend = new EmbeddedBackend(broker, { vhost });
  return {
    clock,
    broker,
    backend,
    queue: (name) =>
      new QueueView(
        name,
        () => queues()?.get(name),
        () => [...(queues()?.keys() ?? [])],
      ),
  };
}
