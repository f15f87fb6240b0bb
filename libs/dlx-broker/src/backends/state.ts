/** The server of a backend, as the server describes itself. */
export interface ServerInfo {
  /** `embedded`, `dlx-broker` for a stand-alone one, `RabbitMQ`, or what another server calls itself. */
  readonly product: 'embedded' | 'dlx-broker' | 'RabbitMQ' | (string & {});
  readonly version: string;
}

/**
 * How a backend is connected.
 * - `connecting`: never connected yet; `attempt` 1 is the first, `failure` is that of the attempt before.
 * - `ready`: publishes and deliveries flow.
 * - `blocked`: connected, but the server takes no publishes at present (`connection.blocked`); deliveries flow.
 * - `reconnecting`: the connection was lost, and the backend tries to get another one, for ever.
 * - `closed`: not in use, by `close()`, or because the start failed (`failure`).
 */
export type BackendState =
  | { readonly kind: 'connecting'; readonly attempt: number; readonly failure?: Error }
  | { readonly kind: 'ready'; readonly server: ServerInfo }
  | { readonly kind: 'blocked'; readonly server: ServerInfo; readonly reason: string }
  | { readonly kind: 'reconnecting'; readonly attempt: number; readonly failure: Error }
  | { readonly kind: 'closed'; readonly failure?: Error };

/** @returns the server of a state, as text for an error */
export const serverOf = (state: BackendState): string =>
  state.kind === 'ready' || state.kind === 'blocked'
    ? `${state.server.product} ${state.server.version}`
    : `the broker (${state.kind})`;

/** Why there is no connection. */
export const whyNot = (state: BackendState): string =>
  'failure' in state && state.failure !== undefined ? state.failure.message : state.kind;
