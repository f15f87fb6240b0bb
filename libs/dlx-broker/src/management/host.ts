import type { MemoryUse } from '../alarms/index.js';
import type { Broker, Patterns } from '../broker/index.js';
import type { AuditSink } from './audit/audit-log.js';
import type { Dlx } from './dlx/dlx.js';
import type { Authenticate, LoginThrottle } from '../logins/index.js';
import type { Statistics } from './statistics/statistics.js';

/** A port for clients, as lists show it. */
export interface OpenPort {
  /** `amqp`, `amqp/ssl` or `http`, as RabbitMQ calls them. */
  readonly protocol: string;
  readonly host: string;
  readonly port: number;
  /** In PEM, where clients speak TLS. */
  readonly certificate?: string | Buffer;
}

/** What is wrong with a part of the broker, for health checks. */
export interface Fault {
  /** `storage_failed`: nothing is kept any more. `storage_unreadable`: queues stand still until the disk answers. */
  readonly name: 'storage_failed' | 'storage_unreadable';
  /** For people. */
  readonly reason: string;
  /** Queues that stand still. */
  readonly queues: readonly { readonly vhost: string; readonly name: string }[];
}

/** The parts that the HTTP API gets from its host. Only the first three are required. */
export interface ManagementHost {
  readonly broker: Broker;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** For `use_regex`: the same that the policies are matched with. */
  readonly patterns: Patterns;
  /** Default: the users of the broker. */
  readonly authenticate?: Authenticate;
  /** Shared with the other listeners, so that guessing at one port counts at all. */
  readonly throttle?: LoginThrottle;
  /** Samples for rates, which their owner takes. Default: samples of the HTTP listener. */
  readonly statistics?: Statistics;
  /** Keeps the audit log beyond the process: a file, see {@link AuditFile}. Closed with the listener. */
  readonly audit?: AuditSink;
  /** Redrives, audit log and streams. Default: those of the HTTP listener. */
  readonly dlx?: Dlx;
  /** Default `rabbit@localhost`. */
  readonly nodeName?: string;
  /** Ports of other listeners; the one of the HTTP API is added. */
  readonly ports?: () => readonly OpenPort[];
  /** Where messages are kept, and how many bytes of its disk have to stay free for publishers to go on. */
  readonly data?: { readonly directory: string; readonly freeLimit: number };
  /** Memory in use and its limit, the same that raises the alarm. Default: those of this process. */
  readonly memory?: () => MemoryUse;
  /** What stops publishers now: `memory`, `disk`. */
  readonly alarms?: () => readonly string[];
  /** Gets a line for the operator about clients: refused logins, never with a password. */
  readonly notice?: (text: string) => void;
  /** The present faults of the storage. Default: none. */
  readonly faults?: () => readonly Fault[];
  /** Hears of faults of our own; nothing a client does is one. */
  readonly log?: (error: unknown) => void;
}
