import type { Clock } from '../../../engine/broker/index.js';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import type { Feature } from '../../core/feature.js';
import { settingOf } from '../../core/handler-settings.js';
import type { Handler, PlannedHandler } from '../../core/handler.js';
import { orderedDecorator } from '../ordered/decorator.js';
import { type Rate, rateDecorator } from './decorator.js';
import { longestInHand, RateGate } from './rate-gate.js';

/** The rate limits of a broker, one for each queue. They stay while handlers are planned again. */
export class RateLimits {
  readonly #gates = new Map<string, RateGate>();

  /** @param changed called when the consumer of a queue has to follow */
  constructor(
    private readonly clock: Clock,
    private readonly changed: (queue: string) => void,
  ) {}

  /** The limit of a queue; undefined without one. */
  of(queue: string): RateGate | undefined {
    return this.#gates.get(queue);
  }

  /** @param rate that of a new gate */
  gate(queue: string, rate: Rate): RateGate {
    let gate = this.#gates.get(queue);
    if (gate === undefined) this.#gates.set(queue, (gate = new RateGate(rate, this.clock, () => this.changed(queue))));
    return gate;
  }

  /** Changes the limit of a queue. @throws DlxConfigurationError for a queue that has none, or that could be deleted with its messages */
  change({ handler, queue }: PlannedHandler, rate: Rate): void {
    const gate = this.#gates.get(queue);
    if (gate === undefined) {
      const remedy = "add @RateLimit({ limit: 100, per: '1s' })";
      throw new DlxConfigurationError(`${handler.origin} has no limit to change; ${remedy}`);
    }
    refuseLongWait(handler, queue, rate);
    gate.limit = rate;
  }

  close(): void {
    for (const gate of this.#gates.values()) gate.close();
  }
}

/** Limits how many messages a handler begins in a time (`@RateLimit`). */
export const rateLimit = (rates: RateLimits): Feature => ({
  name: 'rate limit',
  check: refuseLimits,
  gate(queue, { handler }) {
    const rate = settingOf(handler, rateDecorator);
    return rate && rates.gate(queue, rate);
  },
  rests(queue, isResting) {
    if (isResting) rates.of(queue)?.returnAll();
  },
  waiting: (queue) => rates.of(queue)?.waiting ?? 0,
});

/** @throws DlxConfigurationError naming the handlers, the reason and a remedy */
function refuseLimits(queue: string, handlers: readonly Handler[]): void {
  const limited = handlers.find((handler) => settingOf(handler, rateDecorator) !== undefined);
  if (limited === undefined) return;
  const rate = settingOf(limited, rateDecorator)!;
  const refuse = (why: string): never => {
    throw new DlxConfigurationError(`@RateLimit on ${limited.origin}: ${why}`);
  };
  for (const handler of handlers) {
    const other = settingOf(handler, rateDecorator);
    if (other?.limit === rate.limit && other.per === rate.per) continue;
    refuse(
      `${handler.origin} shares queue '${queue}', and so its limit; give both the same @RateLimit, or a queue for each`,
    );
  }
  if (settingOf(limited, orderedDecorator) !== undefined) {
    refuse('@Ordered is beside it, which decides itself what begins; lower @Prefetch, or leave one of them out');
  }
  refuseLongWait(limited, queue, rate);
}

/** The consumer of a queue ends while messages have to wait for long. @throws DlxConfigurationError if the queue may be deleted then */
function refuseLongWait(handler: Handler, queue: string, { per }: Rate): void {
  const { queue: options, queueArguments } = handler.settings;
  if (per <= longestInHand || (options.autoDelete !== true && !queueArguments.has('x-expires'))) return;
  throw new DlxConfigurationError(
    `@RateLimit on ${handler.origin}: queue '${queue}' may be deleted while its consumer waits for longer than a minute; lower per, or keep the queue`,
  );
}
