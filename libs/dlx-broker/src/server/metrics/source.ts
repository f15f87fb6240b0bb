import type { Broker, Histogram } from '../../engine/broker/index.js';
import type { Metric } from './family.js';

/** The machine that a broker runs on, as far as metrics show it. A number that the system does not report is 0. */
export interface MeteredMachine {
  /** The memory in use and the limit of the alarm, in bytes. */
  memory(): { readonly used: number; readonly limit: number };
  readonly diskFree: number;
  readonly files: number;
  readonly filesLimit: number;
  readonly connections: number;
}

/** The journal of a broker with a data directory. */
export interface MeteredJournal {
  /** The bytes of its segments. */
  readonly bytes: number;
  /** The seconds that a batch took to be written and synced; undefined while that is not measured. */
  readonly syncs: Histogram | undefined;
}

/** The counts of one handler since the start. */
export interface HandlerNumbers {
  /** Class and method. */
  readonly handler: string;
  readonly queue: string;
  readonly attempts: number;
  readonly retried: number;
  readonly parked: number;
  readonly dropped: number;
  readonly rejected: number;
  /** Messages that come again as the same attempt. */
  readonly held: number;
  readonly inFlight: number;
  /** The seconds that attempts took. */
  readonly succeeded: Histogram;
  readonly failed: Histogram;
}

/** The letters of streams and redrives of an application since the start. */
export interface LetterNumbers {
  readonly retried: number;
  readonly parked: number;
  readonly redriven: number;
}

/** The handlers of one broker of an application, and its connection. */
export interface MeteredHandlers {
  /** The name of the broker in the application. */
  readonly broker: string;
  readonly handlers: Iterable<HandlerNumbers>;
  readonly letters: LetterNumbers;
  /** Events that no queue got. */
  readonly unroutable: number;
  /** `connecting`, `ready`, `blocked`, `reconnecting` or `closed`. */
  readonly state: string;
  /** Further metrics. Their first label is `broker`. */
  readonly added: readonly Metric<void>[];
}

/** The delay of the event loop since the last scrape, in seconds. */
export interface LoopDelay {
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/** A broker of this process and what is around it. */
export interface MeteredBroker {
  readonly broker: Broker;
  readonly nodeName: string;
  readonly machine: MeteredMachine;
  /** The bytes of the disk that have to stay free; 0 without a data directory. */
  readonly diskLimit: number;
  /** The raised alarms, which block publishers: `memory`, `disk`. */
  alarms(): readonly string[];
  readonly journal: MeteredJournal | undefined;
}
