import { DlxConfigurationError, optionsOf, parseDuration, refuseUnknown } from '../options/index.js';

/** How a request is sent. */
export interface SendOptions {
  /**
   * How long the client waits for the first answer: milliseconds or `'5s'`. Then the request fails with a RequestTimeoutError. If it
   * still waits in its queue, it expires there, and no handler gets it.
   */
  readonly timeout?: number | string;
}

export const noSendOptions: SendOptions = {};

/** @returns the timeout in milliseconds; undefined: none @throws DlxConfigurationError */
export function timeoutAsked(options: SendOptions): number | undefined {
  const name = 'options of send';
  const { timeout } = optionsOf(options, name, "write { timeout: '5s' }");
  refuseUnknown(options, ['timeout'], name);
  if (timeout === undefined) return undefined;
  const limit = parseDuration(timeout as SendOptions['timeout'] & {}, 'timeout of send');
  if (limit > 0) return limit;
  throw new DlxConfigurationError('timeout of send: 0 is no time at all; leave it out to wait without a limit');
}
