import 'reflect-metadata';
import { RpcException } from '../handlers/nest-versions.js';
import { parseDuration, refused } from '../../platform/options/index.js';

/*
 * A handler throws one of these to decide about its message, in place of the policy. They are RpcExceptions, so Nest does not log
 * them as errors of the program.
 */

/**
 * Another attempt after a delay. It counts as an attempt of `@Retry`; without a policy the number of attempts has no limit.
 * @param delay milliseconds, or a string such as `'30s'`; 0 is at once, to the back of the queue
 * @throws DlxConfigurationError when the delay is no duration
 */
export class RetryLater extends RpcException {
  override readonly name = 'RetryLater';
  readonly delay: number;

  constructor(delay: number | string, reason = `try again in ${delay}${typeof delay === 'number' ? ' ms' : ''}`) {
    super(reason);
    this.delay = parseDuration(delay, 'RetryLater');
  }
}

/** No further attempt: the message goes to the parking lot, where it stays until it is redriven or consumed. */
export class Park extends RpcException {
  override readonly name = 'Park';

  constructor(reason: string) {
    super(reason);
  }
}

/** No further attempt: the queue dead-letters the message, or drops it without a dead-letter exchange. */
export class Reject extends RpcException {
  override readonly name = 'Reject';

  constructor(reason: string) {
    super(reason);
  }
}

/** Acknowledges the message without handling it. */
export class Drop extends RpcException {
  override readonly name = 'Drop';

  constructor(reason = 'dropped by its handler') {
    super(reason);
  }
}

/**
 * Something that the handler needs is not there. The message comes again later, as the same attempt. The circuit of the handler opens
 * at once (`@Circuit`); without a circuit only this message waits.
 * @param wait how long the service is likely to be away: milliseconds, or a string such as `'30s'`. Default: the pause of the circuit, or
 *   30 seconds without one
 * @throws DlxConfigurationError when the wait is no duration above 0
 */
export class Unavailable extends RpcException {
  override readonly name = 'Unavailable';
  /** Milliseconds; undefined if the handler named none. */
  readonly wait: number | undefined;

  constructor(reason: string, wait?: number | string) {
    super(reason);
    this.wait = wait === undefined ? undefined : parseDuration(wait, 'Unavailable');
    if (this.wait === 0) throw refused(wait, 'Unavailable', 'is no time; write one above 0, or leave it out');
  }
}
