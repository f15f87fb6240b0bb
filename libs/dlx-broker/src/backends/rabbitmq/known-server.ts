import { ChannelClosedError, type ServerDescription } from '../../amqp/client/index.js';
import { defaultConsumerTimeout } from '../../engine/broker/index.js';
import { type FieldTable, integerOf } from '../../engine/message/index.js';
import { shownText } from '../../platform/index.js';
import { behaviourOf, type Capabilities, type ConsumerTimeout, type ServerInfo } from '../backend.js';
import { ConnectionLostError, ServerError } from '../errors.js';
import { codeOf, textOf } from './declarations/calls.js';

/** A server, with the extensions of dlx-broker that it announces in the table `dlx_broker` of its properties (rule T9). */
export interface KnownServer {
  readonly info: ServerInfo;
  /** True if it has exchanges of the type `x-delayed-message`. */
  readonly isExact: boolean;
  /** True if it can publish a message and ack the delivery that it replaces in one step (rule K14). */
  readonly canReplace: boolean;
  /** How long its deliveries may be unacknowledged; undefined if it does not say so. */
  readonly timeout: ConsumerTimeout | undefined;
  /** Its HTTP API, on the host of the connection. */
  readonly http: { readonly port: number; readonly isSecure: boolean } | undefined;
}

/** Recognises a server by its properties. A test declaration of an exchange type could close the connection (503). */
export function knownServer({ properties, product, version }: ServerDescription): KnownServer {
  const own = properties.get('dlx_broker');
  const named = { product: shownText(product, longestName), version: shownText(version, longestName) };
  if (own?.type !== 'F') return { info: named, isExact: false, canReplace: false, timeout: undefined, http: undefined };
  const table = own.value;
  const port = table.get('http')?.value;
  return {
    info: {
      product: 'dlx-broker',
      version: asText(table.get('version')?.value) ?? named.version,
      behavesAs: named.version,
    },
    isExact: table.get('delayed')?.value === true,
    canReplace: table.get('replace')?.value === true,
    timeout: timeoutIn(table),
    http: typeof port === 'number' ? { port, isSecure: table.get('https')?.value === true } : undefined,
  };
}

/** A server without a limit says 0. */
function timeoutIn(table: FieldTable): ConsumerTimeout | undefined {
  const limit = integerOf(table.get('consumer_timeout'));
  if (limit === undefined) return undefined;
  const byQueue = table.get('consumer_timeout_by_queue')?.value === true;
  return { limit: limit > 0 ? Number(limit) : Infinity, byQueue };
}

/** Characters of a name that a server gives itself. */
const longestName = 100;

const asText = (value: unknown): string | undefined =>
  typeof value === 'string' ? shownText(value, longestName) : undefined;

/**
 * How long a server lets a delivery be unacknowledged. A RabbitMQ does not say it to clients.
 * @param given the option of the application, in milliseconds; undefined for what the server says, or 30 minutes
 */
export function consumerTimeoutOf({ info, timeout }: KnownServer, given: number | undefined): ConsumerTimeout {
  const version = behaviourOf(info);
  const { limit = defaultConsumerTimeout, byQueue = isSince(version, 3, 12) } = timeout ?? {};
  return { limit: given ?? limit, byQueue, quorumOnly: isSince(version, 4, 3) };
}

/** True for this version of RabbitMQ and later ones. */
function isSince(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map(Number);
  return first > major || (first === major && second >= minor);
}

/** What helps when a server lacks a capability. @returns undefined where the general remedy is as good */
export function remedyOn(server: KnownServer | undefined, capability: keyof Capabilities): string | undefined {
  const asked = "set option 'management' of rabbitmq() to the URL of the management API";
  if (capability === 'listing') return `${asked}, or name the queues instead of giving a pattern`;
  if ((capability !== 'browsing' && capability !== 'pausing') || server?.info.product !== 'dlx-broker')
    return undefined;
  if (server.http === undefined) return `start 'dlx-broker serve' with --http, or ${asked}`;
  return server.http.isSecure ? `${asked}, which speaks TLS` : asked;
}

/** The error for a command that failed for good. @param subject what it would have declared */
export function asBackendError(error: unknown, subject: string | undefined): Error {
  const text = subject === undefined ? textOf(error) : `${subject} cannot be declared now: ${textOf(error)}`;
  if (!(error instanceof ChannelClosedError)) return new ConnectionLostError(text, true, { cause: error });
  return new ServerError(text, codeOf(error) ?? 0, { cause: error });
}
