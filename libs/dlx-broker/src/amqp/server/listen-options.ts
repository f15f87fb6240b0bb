import type { Alarm, MemoryUse } from '../../platform/alarms/index.js';
import type { Authenticate, LoginThrottle } from '../../platform/logins/index.js';
import type { TlsOptions } from './acceptor.js';
import type { HttpPlace } from './server-properties.js';
import type { Limits } from './limits.js';

export interface ListenOptions {
  /** Default `127.0.0.1`, so that other machines have access only on purpose. */
  readonly host?: string;
  /** Default 5672; 0 is any free port. */
  readonly port?: number;
  readonly tls?: TlsOptions;
  readonly limits?: Partial<Limits>;
  /** Checks logins. Default: the users of the broker. */
  readonly authenticate?: Authenticate;
  /** Measures memory; above its limit publishers are blocked. Default: the memory of this process. */
  readonly memory?: () => MemoryUse;
  /** Further alarms, such as that of the disk. Publishers go on when no alarm is raised. */
  readonly alarms?: readonly Alarm[];
  /** Shared with other listeners, so that failed logins at one port count at all ports. */
  readonly throttle?: LoginThrottle;
  /** The management API of the same broker: clients get its port (rule T9). */
  readonly http?: HttpPlace;
  /** Gets log lines about clients, such as refused logins; never a password. */
  readonly notice?: (text: string) => void;
  /** Gets internal faults. An error of a client is none. */
  readonly log?: (error: unknown) => void;
}
