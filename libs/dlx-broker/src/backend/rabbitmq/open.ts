import { SystemClock } from '../../host/index.js';
import { RabbitMqBackend } from './backend.js';
import { openConnection } from './client/connection.js';
import { dial } from './client/dial.js';
import { openPublisher } from './client/publisher.js';
import type { RabbitMqOptions } from './options.js';
import { resolveRabbitMq } from './resolve-options.js';

/** Hears what happens in a backend. */
export interface RabbitMqLog {
  /** What an operator should know. */
  readonly warn: (text: string) => void;
  /** A fault of this library, or what a callback threw. */
  readonly fault: (error: unknown) => void;
}

/** The longest timer of Node, in milliseconds. */
const longestTimer = 2_147_483_647;

function keepAlive(): () => void {
  const timer = setInterval(() => {}, longestTimer);
  return () => clearInterval(timer);
}

/**
 * The backend on a server, in real time and over sockets. Nothing is opened before `connect`.
 * @param options checked by name and type already
 * @throws DlxConfigurationError for a duration that is none
 */
export function openRabbitMq(options: RabbitMqOptions, log: RabbitMqLog): RabbitMqBackend {
  const later = (act: () => void): void => void setImmediate(act);
  const sockets = { dial, openConnection, openPublisher };
  const lent = { clock: new SystemClock(), random: Math.random, later, keepAlive };
  return new RabbitMqBackend(resolveRabbitMq(options), { ...lent, ...sockets, ...log });
}
