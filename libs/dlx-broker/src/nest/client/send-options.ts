import { optionsOf, refuseUnknown } from '../../platform/options/index.js';
import { timeLimit } from './emit-options.js';

/** How a request is sent. */
export interface SendOptions {
  /**
   * How long the client waits for the first answer: milliseconds or `'5s'`. Then the request fails with a RequestTimeoutError, or
   * with a ConnectionLostError if the client is not connected. If it still waits in its queue, it expires there, and no handler gets it.
   */
  readonly timeout?: number | string;
}

export const noSendOptions: SendOptions = {};

/** @returns the timeout in milliseconds; undefined: none @throws DlxConfigurationError */
export function timeoutAsked(options: SendOptions): number | undefined {
  const name = 'options of send';
  const { timeout } = optionsOf(options, name, "write { timeout: '5s' }");
  refuseUnknown(options, ['timeout'], name);
  return timeLimit(timeout as SendOptions['timeout'], 'timeout of send');
}
