import {
  type Clock,
  minConsumerTimeout,
  minDeadLetterRetryAfter,
  type ProfileName,
  profiles,
} from '../../engine/broker/index.js';
import type { Durability } from '../../store/index.js';
import { DlxConfigurationError, parseDurationFrom, parseTimeLimit } from '../../platform/options/index.js';
import { areBytes, type Checks, has, isOneOf, isText } from '../module/check-options.js';
import { isListen, type ListenOptions } from './listen.js';
import { type BrokerChoice, type Made, make, read } from './made.js';

/** How the application and other processes use a broker in this process. */
export interface AccessOptions {
  /** The virtual host of the application; it is made if it does not exist. Default `/`. */
  readonly vhost?: string;
  /** The user of the application. Its permissions apply. Default none: everything is allowed. */
  readonly user?: string;
  /** Ports through which other processes share the queues. Default none. */
  readonly listen?: ListenOptions;
}

interface EngineOptions extends AccessOptions {
  /** Which RabbitMQ the broker behaves like. Default `'4'`. */
  readonly rabbitmq?: ProfileName;
  /**
   * How long a client, or a handler, may keep a message of a quorum queue unacknowledged: RabbitMQ's `consumer_timeout`. Then the
   * message returns to its queue, and its consumer is cancelled. With `rabbitmq: '3.10'` it holds for all queues, and the channel is
   * closed. Milliseconds, a string such as `'2h'`, or false for no limit. Default `'30m'`.
   */
  readonly consumerTimeout?: number | string | false;
  /**
   * When an at-least-once dead letter that did not arrive is published again: RabbitMQ's
   * `dead_letter_worker_publisher_confirm_timeout`. Milliseconds, or a string such as `'5s'`. Default `'3m'`.
   */
  readonly deadLetterRetryAfter?: number | string;
  /** The source of the time, such as a `ManualClock` of `dlx-broker/testing`. Default the time of this machine. */
  readonly clock?: Clock;
}

interface InMemory extends EngineOptions {
  /** A directory for this process alone; it is made if it does not exist. Default none: everything is in memory. */
  readonly dataDir?: string;
  readonly durability?: undefined;
  readonly messageMemory?: undefined;
  readonly diskFreeLimit?: undefined;
}

interface OnDisk extends EngineOptions {
  /** A directory for this process alone; it is made if it does not exist. Default none: everything is in memory. */
  readonly dataDir: string;
  /**
   * What a confirmed message survives: with `fsync` a power cut, with `os` and `none` the end of the process. Default `fsync`.
   */
  readonly durability?: Durability;
  /** Bytes of bodies that stay in memory; others are read back when they are delivered. Default 64 MiB. */
  readonly messageMemory?: number;
  /** Publishes are refused while fewer bytes are free on the disk. Default 50 MiB. */
  readonly diskFreeLimit?: number;
}

/** Options of {@link embedded}. `durability`, `messageMemory` and `diskFreeLimit` need `dataDir`. */
export type EmbeddedBrokerOptions = InMemory | OnDisk;

/** A broker of the application's own, as {@link embedded} returns it. */
export interface EmbeddedBroker extends Made<'embedded'> {
  readonly options: Readonly<EmbeddedBrokerOptions>;
}

/** Every option of a broker in this process, own or shared, and what it accepts. */
export const accessChecks = { vhost: isText, user: isText, listen: isListen } satisfies Checks<AccessOptions>;

const durabilities = { fsync: true, os: true, none: true } satisfies Record<Durability, true>;

/** Every option of {@link embedded}, and what it accepts. */
export const embeddedChecks = {
  rabbitmq: isOneOf(...Object.keys(profiles)),
  dataDir: isText,
  durability: isOneOf(...Object.keys(durabilities)),
  messageMemory: areBytes,
  diskFreeLimit: areBytes,
  consumerTimeout: (value, origin) => parseTimeLimit(value, origin, minConsumerTimeout),
  deadLetterRetryAfter: (value, origin) => parseDurationFrom(minDeadLetterRetryAfter, value, origin),
  clock: has('Clock', 'now', 'wakeAt'),
  ...accessChecks,
} satisfies Checks<EmbeddedBrokerOptions>;

/** The options that need a data directory. */
const ofDirectory = ['durability', 'messageMemory', 'diskFreeLimit'] as const satisfies readonly (keyof OnDisk)[];

/**
 * A broker of the application's own, in this process: `forRoot({ broker: embedded({ dataDir: './data' }) })`. Without
 * options it keeps everything in memory and opens no port. Nothing is opened before the application starts.
 * @throws DlxConfigurationError naming the option, the value and a remedy
 */
export function embedded(options: EmbeddedBrokerOptions = {}): BrokerChoice {
  const checked = read(options, embeddedChecks, 'embedded()', "write embedded({ dataDir: './data' })");
  const useless = ofDirectory.find((option) => checked[option] !== undefined);
  if (useless !== undefined && checked.dataDir === undefined) {
    throw new DlxConfigurationError(
      `option '${useless}' of embedded() needs option 'dataDir': write embedded({ dataDir: './data', ${useless} })`,
    );
  }
  return make('embedded', { options: checked });
}
