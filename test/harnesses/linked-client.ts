import type { AmqpConnection, ChannelEvents, ConnectionEvents } from '../../libs/dlx-broker/src/amqp/client/api.js';
import { openConnection } from '../../libs/dlx-broker/src/amqp/client/connection.js';
import type { ConnectionOptions } from '../../libs/dlx-broker/src/amqp/client/handshake.js';
import type { Runtime, Transport } from '../../libs/dlx-broker/src/amqp/client/transport.js';

/** Every event of a connection in words, in order. */
export interface Recorded {
  readonly connection: AmqpConnection;
  readonly events: string[];
  readonly faults: unknown[];
}

const place = { place: 'server:5672', credentials: { user: 'guest', password: 'guest' } } as const;

/** Opens a connection and writes down what it reports. */
export function recorded(
  transport: Transport,
  runtime: Runtime,
  options: Partial<ConnectionOptions> = {},
  more: Partial<ConnectionEvents> = {},
): Recorded {
  const events: string[] = [];
  const faults: unknown[] = [];
  const connection = openConnection({ ...place, ...options }, transport, runtime, {
    opened: (server) => void events.push(`opened ${server.product}`),
    closed: (failure) => void events.push(failure === undefined ? 'closed' : shown(failure)),
    blocked: (reason) => void events.push(`blocked: ${reason}`),
    unblocked: () => void events.push('unblocked'),
    drained: () => void events.push('drained'),
    fault: (error) => void faults.push(error),
    ...more,
  });
  return { connection, events, faults };
}

/** An error of the client in one line. */
export function shown(failure: Error): string {
  const { reason } = failure as { readonly reason?: string };
  return `${failure.name}${reason === undefined ? '' : ` (${reason})`}: ${failure.message}`;
}

/** The events of a channel that does nothing with them. */
export const silent: ChannelEvents = { closed: () => undefined };

/** A callback that writes down what it got, as JSON or as an error. */
export const noting =
  (into: string[], name: string) =>
  (failure?: Error, value?: unknown): void =>
    void into.push(`${name}: ${failure === undefined ? (JSON.stringify(value) ?? 'done') : shown(failure)}`);
