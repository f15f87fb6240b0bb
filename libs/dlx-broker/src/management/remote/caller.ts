import { createHash } from 'node:crypto';
import type { User } from '../../broker/index.js';

/** A user of the console, whom the server has accepted. */
export interface Caller {
  readonly user: User;
  readonly password: string;
  /** The header with which each request of this user is sent to the server. */
  readonly authorization: string;
  /** Tells two callers apart, and shows nothing of a password. */
  readonly key: string;
  /** The address of the client, for a server that lets some users in from its own machine only. */
  readonly peer: string;
  /** False if the client is on another machine, or if a proxy forwarded its request. */
  readonly isLocal: boolean;
}

/** @returns a string that is equal for equal parts, and shows none of them */
export const keyOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
