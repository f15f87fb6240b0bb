import type { Clock, Patterns } from '../../broker/index.js';
import type { AuditSink } from '../audit/audit-log.js';
import type { StartRedrive } from './redrives/remote-redrive.js';
import type { RemoteServer } from './remote-server.js';

/** The parts that the console of an application on a server gets from its host. */
export interface RemoteHost {
  /** The management API of the server. */
  readonly server: RemoteServer;
  readonly clock: Clock;
  /** Applies the policies of the server as the server does. */
  readonly patterns: Patterns;
  /** Begins a redrive with consumers of this process. */
  readonly startRedrive: StartRedrive;
  /**
   * The parking lots of the application, whose names may be any, and the virtual host in which they are. Undefined while the
   * application has no connection.
   */
  readonly parkingLots?: () => { readonly vhost: string; readonly names: ReadonlySet<string> } | undefined;
  /** Stores the audit log. The port closes it. */
  readonly audit?: AuditSink;
  /** Gets a line for the operator. It contains no password. */
  readonly notice?: (text: string) => void;
  /** The folder of the built console. Default: `dist/console` of this package. */
  readonly consoleDirectory?: string;
  /** Gets internal errors, and no errors of clients. */
  readonly log?: (error: unknown) => void;
}
