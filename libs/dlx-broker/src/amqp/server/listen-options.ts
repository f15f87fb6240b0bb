import { type Broker, product, versionOf } from '../../engine/broker/index.js';
import { bool, type Field, type FieldTable, int32, int64, longstr, table } from '../../engine/message/index.js';
import type { Alarm, MemoryUse } from '../../platform/alarms/index.js';
import type { Authenticate, LoginThrottle } from '../../platform/logins/index.js';
import type { TlsOptions } from './acceptor.js';
import type { Limits } from './limits.js';

const capabilities = [
  'publisher_confirms',
  'exchange_exchange_bindings',
  'basic.nack',
  'consumer_cancel_notify',
  'connection.blocked',
  'consumer_priorities',
  'authentication_failure_close',
  'per_consumer_qos',
  'direct_reply_to',
];

/** Where the management API of the same broker is, on the same machine. */
interface HttpPlace {
  readonly port: number;
  /** It speaks TLS. */
  readonly isSecure: boolean;
}

/** The parts of a broker that its server properties describe. */
type ServedBroker = Pick<Broker, 'consumerTimeout' | 'profile'>;

/**
 * The server properties that RabbitMQ does not have (rule T9): they show a client which extensions it can use.
 * @param http the management API, if there is one
 */
function ownProperties({ consumerTimeout, profile }: ServedBroker, http: HttpPlace | undefined): FieldTable {
  const own = new Map<string, Field>([
    ['version', longstr(product.version)],
    ['delayed', bool(true)],
    ['replace', bool(true)],
    ['consumer_timeout', int64(Number.isFinite(consumerTimeout) ? consumerTimeout : 0)],
    ['consumer_timeout_by_queue', bool(profile.queueConsumerTimeouts)],
  ]);
  if (http !== undefined) own.set('http', int32(http.port)).set('https', bool(http.isSecure));
  return own;
}

/** The server properties of `connection.start` (rule T2). Tools show it; some clients look at the capabilities. */
export const serverProperties = (broker: ServedBroker, http?: HttpPlace): FieldTable =>
  new Map([
    ['capabilities', table(new Map(capabilities.map((name) => [name, bool(true)])))],
    ['cluster_name', longstr('dlx-broker')],
    ['dlx_broker', table(ownProperties(broker, http))],
    ['copyright', longstr('Copyright (c) the dlx-broker authors')],
    ['information', longstr('dlx-broker, which behaves like RabbitMQ. Licensed under the MIT license.')],
    ['platform', longstr(`Node.js ${process.versions.node}`)],
    ['product', longstr('RabbitMQ')],
    ['version', longstr(versionOf(broker))],
  ]);

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
