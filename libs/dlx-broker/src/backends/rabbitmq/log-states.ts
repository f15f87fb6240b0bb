import type { Backend } from '../backend.js';
import type { BackendState } from '../state.js';
import type { Warn, WarningEvent } from './warn.js';

/**
 * Logs the state of the connection to a server: why there is none, for how long, and when publishes have to wait. A reason is
 * logged once until the next connection, however many attempts fail for it. A start that succeeds at once logs nothing.
 * @param startAttempts the option of `rabbitmq()`
 * @param warn gets one line of text at a time
 */
export function logStates(
  { clock, onState }: Pick<Backend, 'clock' | 'onState'>,
  startAttempts: number,
  warn: Warn,
): void {
  let lostAt: number | undefined;
  let reason: string | undefined;
  let isBlocked = false;

  const failed = (failure: Error, text: string, event: WarningEvent): void => {
    if (failure.message === reason) return;
    reason = failure.message;
    warn(`${text}: ${reason}`, event, reason);
  };
  const waited = (): string => `${((clock.now() - (lostAt ?? clock.now())) / 1_000).toFixed(1)} s`;
  const reconnecting = (failure: Error): void => {
    isBlocked = false;
    if (lostAt !== undefined) return failed(failure, `not connected for ${waited()}`, 'connectionLost');
    lostAt = clock.now();
    failed(failure, 'the connection was lost, and the client reconnects', 'connectionLost');
  };
  const connected = ({ product, version }: { readonly product: string; readonly version: string }): void => {
    const again = lostAt === undefined ? 'connected' : `connected again after ${waited()}`;
    if (reason !== undefined) warn(`${again} to ${product} ${version}`, 'connected');
    lostAt = undefined;
    reason = undefined;
  };

  onState((state: BackendState) => {
    switch (state.kind) {
      case 'connecting':
        if (state.failure === undefined) return;
        failed(
          state.failure,
          `not connected, attempt ${state.attempt} of ${startAttempts} ('startAttempts' of rabbitmq())`,
          'notConnected',
        );
        return;
      case 'reconnecting':
        reconnecting(state.failure);
        return;
      case 'ready':
      case 'blocked':
        connected(state.server);
        if (isBlocked === (state.kind === 'blocked')) return;
        isBlocked = !isBlocked;
        if (state.kind === 'blocked') warn(`publishes wait: ${state.reason}`, 'blocked', state.reason);
        else warn('publishes go on', 'unblocked');
        return;
      case 'closed':
    }
  });
}
