import type { HandlerStatus } from '../../server/index.js';

/** What {@link DlxBroker.health} found. */
export interface DlxHealth {
  /** False if a restart of the process is the remedy: the journal of its broker failed. For a liveness probe. */
  readonly isAlive: boolean;
  /** True if publishes are taken and handlers get messages. For a readiness probe. */
  readonly isReady: boolean;
  /**
   * Why it is not ready. Empty if it is. Each has a sentence for operators, without a password and a payload, and a name:
   * - `not-started`: its start has not ended, or its {@link DlxServer} is connected and not started.
   * - `closing`: it shuts down.
   * - `storage-failed`: the journal of its broker failed. Only this one says that the process should be restarted.
   * - `storage-unreadable`: messages cannot be read from the disk, so a queue stands still.
   * - `connection`: it is not connected to its broker.
   * - `alarm`: its broker takes no publishes at present, because it is short of memory or disk.
   * - `consumers`: the broker ended consumers of its handlers, and they are not restored yet.
   * - `dead-letters`, `event-loop`: a limit of the option `health` is exceeded.
   */
  readonly problems: readonly {
    readonly name:
      | 'not-started'
      | 'closing'
      | 'storage-failed'
      | 'storage-unreadable'
      | 'connection'
      | 'alarm'
      | 'consumers'
      | 'dead-letters'
      | 'event-loop';
    readonly reason: string;
  }[];
  /** The name of the broker in this application. */
  readonly broker: string;
  /** The broker itself, such as `embedded 4` or `RabbitMQ 3.13.7`; undefined while there is no connection. */
  readonly server: string | undefined;
  readonly connection: 'connecting' | 'ready' | 'blocked' | 'reconnecting' | 'closed';
  /** The number of consumed queues. */
  readonly consumers: number;
  /** The number of messages that handlers have in hand. */
  readonly handling: number;
  /** Handlers that get no messages, or one at a time: their circuit is not closed, or they are paused. This is no problem. */
  readonly stopped: readonly HandlerStatus[];
  /**
   * Handlers that probably hang: at work for longer than option `stuckAfter`, without a time limit. This is no problem, because a message may
   * take so long.
   */
  readonly stuck: readonly {
    /** Class and method: `Payments.pay`. */
    readonly handler: string;
    readonly queue: string;
    /** On how many messages it is at work for so long. */
    readonly messages: number;
    /** When it began with the oldest of them. */
    readonly since: Date;
  }[];
  /** Messages that handlers parked since the start. */
  readonly parked: number;
  /** Undefined without dead letters, without the option `health.deadLetters`, and where the broker cannot show messages. */
  readonly oldestDeadLetter:
    | {
        readonly queue: string;
        /** Whole seconds since it died, or since the first failure of a parked message. */
        readonly age: number;
      }
    | undefined;
  /** The longest time in milliseconds for which the event loop was blocked since the last answer, with option `health.loopDelay`. */
  readonly loopDelay: number | undefined;
}

export type HealthProblem = DlxHealth['problems'][number];
export type OldestDeadLetter = NonNullable<DlxHealth['oldestDeadLetter']>;
export type StuckHandler = DlxHealth['stuck'][number];

/** The result of a health indicator, as `@nestjs/terminus` takes it in each of its versions. */
export type HealthResult<Key extends string> = Record<
  Key,
  { readonly status: 'up' | 'down' } & Readonly<Record<string, unknown>>
>;

export function readiness<Key extends string>(key: Key, health: DlxHealth): HealthResult<Key> {
  const { isAlive: _, isReady, problems, ...facts } = health;
  return result(key, isReady, problems, facts);
}

export function liveness<Key extends string>(key: Key, { isAlive, problems, broker }: DlxHealth): HealthResult<Key> {
  const fatal = problems.filter(({ name }) => name === 'storage-failed');
  return result(key, isAlive, fatal, { broker });
}

function result<Key extends string>(
  key: Key,
  isUp: boolean,
  problems: DlxHealth['problems'],
  facts: object,
): HealthResult<Key> {
  const reasons = problems.length === 0 ? {} : { problems };
  return { [key]: { status: isUp ? 'up' : 'down', ...reasons, ...facts } } as unknown as HealthResult<Key>;
}
