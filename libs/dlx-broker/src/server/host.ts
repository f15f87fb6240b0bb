import type { Broker, Patterns } from '../engine/broker/index.js';
import type { MemoryUse } from '../platform/alarms/index.js';
import type { Authenticate, LoginThrottle } from '../platform/logins/index.js';
import type { AuditSink } from './audit/audit-log.js';
import type { Dlx } from './dlx/state.js';
import type { Statistics } from './statistics/statistics.js';
import type { BuiltConsole } from './console/console.js';

/** Whether a handler gets messages. */
export interface HandlerStatus {
  /** Class and method: `Payments.pay`. */
  readonly handler: string;
  readonly queue: string;
  /**
   * `running`: it gets messages. `open`: its circuit is open, and it gets none. `probing`: it gets one at a time. `paused`: a caller
   * paused it, and it gets none.
   */
  readonly state: 'running' | 'open' | 'probing' | 'paused';
  /** The name of its circuit. Absent without one. */
  readonly circuit?: string;
  /** Why it is not running: the error that opened its circuit, or the reason of the pause. */
  readonly reason?: string;
  /** Since when it is in this state. Absent while it is running. */
  readonly since?: Date;
  /** When its open circuit tries again. */
  readonly nextProbe?: Date;
}

/** What operators see of handlers, and do with them. */
export interface OperatedHandlers {
  list(): readonly HandlerStatus[];
  pause(handler: string, reason: string | undefined): void;
  resume(handler: string): void;
}

/** The handlers of one broker of an application, to show and to pause. */
export interface ManagedHandlers extends OperatedHandlers {
  /** The virtual host of their queues. */
  readonly vhost: string;
}

/** A port for clients, for lists. */
export interface OpenPort {
  /** `amqp`, `amqp/ssl` or `http`: RabbitMQ's names. */
  readonly protocol: string;
  readonly host: string;
  readonly port: number;
  /** The certificate in PEM, if the port speaks TLS. */
  readonly certificate?: string | Buffer;
}

/** A fault of the storage, for health checks. */
export interface Fault {
  /** `storage_failed`: nothing is stored any more. `storage_unreadable`: queues are paused until the disk answers. */
  readonly name: 'storage_failed' | 'storage_unreadable';
  /** The reason, as a sentence. */
  readonly reason: string;
  /** The paused queues. */
  readonly queues: readonly { readonly vhost: string; readonly name: string }[];
}

/** The parts that the HTTP API gets from its host. Only the first three are required. */
export interface ManagementHost {
  readonly broker: Broker;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The patterns of `use_regex`; the policies of the broker use the same ones. */
  readonly patterns: Patterns;
  /** Checks passwords. Default: against the users of the broker. */
  readonly authenticate?: Authenticate;
  /** Limits wrong passwords. Shared with the other listeners, so that guesses at all ports count. */
  readonly throttle?: LoginThrottle;
  /** Samples for rates. Default: the HTTP listener takes its own. */
  readonly statistics?: Statistics;
  /** Stores the audit log, see {@link AuditFile}. The listener closes it. */
  readonly audit?: AuditSink;
  /** Redrives, audit log and event streams. Default: the HTTP listener has its own. */
  readonly dlx?: Dlx;
  /** Default `rabbit@localhost`. */
  readonly nodeName?: string;
  /** The ports of other listeners. The HTTP listener adds its own. */
  readonly ports?: () => readonly OpenPort[];
  /** The data directory, and the bytes of its disk that have to stay free: below them publishers are blocked. */
  readonly data?: { readonly directory: string; readonly freeLimit: number };
  /** The memory in use and its limit: the measure that raises the alarm. Default: that of this process. */
  readonly memory?: () => MemoryUse;
  /** The raised alarms, which block publishers: `memory`, `disk`. */
  readonly alarms?: () => readonly string[];
  /** Gets a line for the operator about clients, such as a refused login. It contains no password. */
  readonly notice?: (text: string) => void;
  /** The built console. Default: that of this package. */
  readonly console?: () => Promise<BuiltConsole>;
  /** The present faults of the storage. Default: none. */
  readonly faults?: () => readonly Fault[];
  /** The handlers of an application in this process. Default: none. */
  readonly handlers?: Iterable<ManagedHandlers>;
  /** Gets internal errors, and no errors of clients. */
  readonly log?: (error: unknown) => void;
}
