import { shownText } from '../../platform/index.js';
import { type FieldTable, integerOf } from '../../engine/message/index.js';
import type { ConsumerTimeout } from '../backend.js';
import type { ServerInfo } from '../state.js';
import type { ServerDescription } from '../../amqp/client/index.js';

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
    info: { product: 'dlx-broker', version: textOf(table.get('version')?.value) ?? named.version },
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

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? shownText(value, longestName) : undefined;
