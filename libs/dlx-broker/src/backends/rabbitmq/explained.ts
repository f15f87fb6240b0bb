import type { Capabilities } from '../backend.js';
import { ConnectionLostError, ServerError } from '../errors.js';
import { ChannelClosedError } from '../../amqp/client/index.js';
import { codeOf, textOf } from './declarations/calls.js';
import type { KnownServer } from './known-server.js';

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
