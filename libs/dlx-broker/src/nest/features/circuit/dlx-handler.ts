import type { HandlerStatus } from '../../../server/index.js';
import { type Rate, type RateLimitOptions, readRate } from '../rate-limit/decorator.js';
import { DlxConfigurationError, flag, optionsOf, refused } from '../../../platform/options/index.js';

/** How a handler is paused. */
export interface HandlerPauseOptions {
  /** False: `pause` does not wait for messages that the handler has in hand. Default true. */
  readonly wait?: boolean;
}

/** What a handle of a handler does in its broker. */
export interface HandlerActions {
  status(): HandlerStatus;
  /** True if this is called by a handler of the queue that is at work. */
  isInside(): boolean;
  pause(reason: string | undefined): void;
  /** Resolves when no handler of the queue has a message in hand. */
  idle(): Promise<void>;
  resume(): void;
  /** Undefined without `@RateLimit`. */
  rateLimit(): Rate | undefined;
  setRateLimit(rate: Rate): void;
}

/** The longest reason of a pause, in characters. */
const longestReason = 500;

/** One handler of a broker: `DlxBroker.handler('Payments.pay')`. */
export class DlxHandler {
  /** @internal Made by {@link DlxBroker}. */
  constructor(
    /** Class and method. */
    readonly name: string,
    private readonly actions: HandlerActions,
  ) {}

  /** Whether it gets messages now. */
  get status(): HandlerStatus {
    return this.actions.status();
  }

  /**
   * Stops deliveries to the handler in this process, until {@link resume} or the end of the process. Messages wait in its queue. Handlers
   * that share its queue are paused as well. A second pause keeps the reason of the first.
   * @param reason shown in the log, in `DlxBroker.handlers` and in the event `paused`
   * @returns resolves when the handler has no message in hand; at once with `{ wait: false }`
   * @throws DlxConfigurationError for a reason that is no text, or has more than 500 characters, and inside of the handler without
   *   `{ wait: false }`: it would wait for its own end
   */
  async pause(reason?: string, options: HandlerPauseOptions = {}): Promise<void> {
    const origin = `pause of handler '${this.name}'`;
    const { wait = true } = optionsOf<HandlerPauseOptions>(options, origin, 'write { wait: false }', ['wait']);
    flag.read(wait, `${origin}: wait`);
    if (reason !== undefined && (typeof reason !== 'string' || reason.length > longestReason)) {
      throw refused(reason, `${origin}: reason`, `is no text of up to ${longestReason} characters`);
    }
    if (wait && this.actions.isInside()) {
      throw new DlxConfigurationError(
        `${origin}: the handler is at work itself, and would wait for its own end; write pause(reason, { wait: false })`,
      );
    }
    this.actions.pause(reason);
    if (wait) await this.actions.idle();
  }

  /** Starts deliveries again. If its circuit is open, the circuit tries a message at once. No effect on a handler that is not paused. */
  resume(): void {
    this.actions.resume();
  }

  /** How many messages it begins, and in how many milliseconds; undefined without `@RateLimit`. */
  get rateLimit(): { readonly limit: number; readonly per: number } | undefined {
    return this.actions.rateLimit();
  }

  /**
   * Changes the limit of `@RateLimit` in this process, until its end. What began within the old `per` counts. Handlers that share the queue share the
   * limit.
   * @param rate `{ limit: 10, per: '1s' }`
   * @throws DlxConfigurationError naming the option and the value; for a handler without `@RateLimit`; and for more than a minute where the
   *   queue may be deleted meanwhile
   */
  setRateLimit(rate: RateLimitOptions): void {
    this.actions.setRateLimit(readRate(rate, `setRateLimit of handler '${this.name}'`));
  }
}
