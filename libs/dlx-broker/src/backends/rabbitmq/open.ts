import { keepAlive, SystemClock } from '../../platform/index.js';
import { RabbitMqBackend } from './backend.js';
import { dial, openConnection, openPublisher } from '../../amqp/client/index.js';
import { logStates } from './log-states.js';
import type { RabbitMqOptions } from './options.js';
import type { Warn } from './warn.js';
import { resolveRabbitMq } from './resolve-options.js';

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
