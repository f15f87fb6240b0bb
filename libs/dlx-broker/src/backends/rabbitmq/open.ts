import { dial, openConnection, openPublisher } from '../../amqp/client/index.js';
import { keepAlive, SystemClock } from '../../platform/index.js';
import { parseDuration, parseTimeLimit } from '../../platform/options/index.js';
import type { Backend, BackendState } from '../backend.js';
import { RabbitMqBackend } from './backend.js';
import type { RabbitMqOptions, ResolvedRabbitMq, Warn, WarningEvent } from './options.js';

/** Receives the reports of a backend. */
export interface RabbitMqLog {
  /** Gets warnings for operators. */
  readonly warn: Warn;
  /** Gets faults of this library, and exceptions of callbacks. */
  readonly fault: (error: unknown) => void;
}

/**
 * The backend on a server, in real time and over sockets. Nothing is opened before `connect`.
 * @param options checked by name and type already
 * @param dialTo opens a transport in place of a socket, for measurements
 * @throws DlxConfigurationError for an invalid duration
 */
export function openRabbitMq(options: RabbitMqOptions, log: RabbitMqLog, dialTo = dial): RabbitMqBackend {
  const later = (act: () => void): void => void setImmediate(act);
  const sockets = { dial: dialTo, openConnection, openPublisher };
  const lent = { clock: new SystemClock(), random: Math.random, later, keepAlive };
  const resolved = resolveRabbitMq(options);
  const backend = new RabbitMqBackend(resolved, { ...lent, ...sockets, ...log });
  logStates({ clock: lent.clock, onState: (listener) => backend.onState(listener) }, resolved.startAttempts, log.warn);
  return backend;
}

/** @param options checked by name and type already @throws DlxConfigurationError for an invalid duration */
export function resolveRabbitMq(options: RabbitMqOptions): ResolvedRabbitMq {
  const milliseconds = (option: keyof RabbitMqOptions, preset: string): number =>
    parseDuration((options[option] as number | string | undefined) ?? preset, `option '${option}' of rabbitmq()`);
  return {
    urls: options.urls,
    credentials: options.credentials,
    tls: options.tls,
    connectionName: options.connectionName ?? `dlx-broker ${process.pid}`,
    heartbeat: options.heartbeat ?? 10,
    startAttempts: options.startAttempts ?? 20,
    connectTimeout: milliseconds('connectTimeout', '10s'),
    longestPause: milliseconds('longestPause', '2s'),
    publishTimeout: milliseconds('publishTimeout', '30s'),
    refusedFor: milliseconds('refusedFor', '30s'),
    unconfirmed: options.unconfirmed ?? 1_000,
    publishBuffer: { messages: 100_000, bytes: 64 * 1_024 * 1_024, ...options.publishBuffer },
    declareTimeout: milliseconds('declareTimeout', '30s'),
    closeTimeout: milliseconds('closeTimeout', '5s'),
    consumerTimeout:
      options.consumerTimeout === undefined
        ? undefined
        : parseTimeLimit(options.consumerTimeout, "option 'consumerTimeout' of rabbitmq()", 0),
    management: options.management,
    policies: options.policies ?? [],
    strictPolicies: options.strictPolicies ?? false,
  };
}

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
