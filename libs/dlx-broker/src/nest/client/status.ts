import type { Backend, BackendState } from '../../backends/index.js';

/**
 * What `status` of {@link DlxClient} and {@link DlxServer} emits. `blocked`: connected, but the broker takes no publishes at
 * present, because it is short of memory or disk.
 */
export type DlxStatus = 'connected' | 'disconnected' | 'reconnecting' | 'blocked';

const statuses: Readonly<Record<BackendState['kind'], DlxStatus>> = {
  connecting: 'disconnected',
  ready: 'connected',
  blocked: 'blocked',
  reconnecting: 'reconnecting',
  closed: 'disconnected',
};

/**
 * Calls the listener with the present status of a backend, and with each change.
 * @returns what ends it
 */
export function followStatus(
  backend: Pick<Backend, 'state' | 'onState'>,
  emit: (status: DlxStatus) => void,
): () => void {
  emit(statuses[backend.state.kind]);
  return backend.onState((state) => emit(statuses[state.kind]));
}
