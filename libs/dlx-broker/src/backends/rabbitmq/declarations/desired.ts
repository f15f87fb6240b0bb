import type { AmqpConnection } from '../../../amqp/client/index.js';
import type { Clock } from '../../../engine/broker/index.js';
import { after } from '../../../platform/index.js';
import type { BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Topology } from '../../topology/index.js';
import type { Warn } from '../options.js';
import type { Pauses } from '../pauses.js';
import { Calls, codeOf, mayPass, textOf } from './calls.js';
import { bind, declareExchange, declareQueue } from './declare.js';

/** The reply code for an exclusive queue of another connection. After a reconnect it may be the old connection, not noticed as lost. */
const locked = 405;

/** One declaration, as it is made again after a reconnect. */
interface Item {
  readonly what: string;
  /** The queue that it declares. */
  readonly queue: string | undefined;
  readonly declare: (calls: Calls) => Promise<void>;
}

/** Everything that this backend has declared. It is declared again after a reconnect, and when a publish misses an exchange of it. */
export class DesiredTopology {
  readonly #exchanges = new Map<string, ExchangeDeclaration>();
  readonly #queues = new Map<string, QueueDeclaration>();
  readonly #bindings = new Map<string, BindingDeclaration>();
  /** Queues that the server could not declare again so far. */
  readonly #late = new Set<string>();
  /** Counts the calls of {@link restore}: attempts in the background end when everything is declared again. */
  #round = 0;

  /** @param warn gets a line for each declaration that failed when it was made again */
  constructor(
    private readonly clock: Clock,
    private readonly pauses: () => Pauses,
    private readonly warn: Warn,
  ) {}

  /** Adds declarations that succeeded. */
  add({ exchanges, queues, bindings }: Topology): void {
    for (const exchange of exchanges) this.#exchanges.set(exchange.name, exchange);
    for (const queue of queues) this.#queues.set(queue.name, queue);
    for (const binding of bindings) {
      const { source, destination, destinationType, routingKey } = binding;
      const args = JSON.stringify([...binding.arguments], (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      this.#bindings.set(JSON.stringify([source, destination, destinationType, routingKey, args]), binding);
    }
  }

  hasExchange(name: string): boolean {
    return this.#exchanges.has(name);
  }

  /** Whether the queue is one that the server could not declare again so far. */
  isLate(queue: string): boolean {
    return this.#late.has(queue);
  }

  /**
   * Declares everything again: all at once, and after a failure one by one. Declarations that fail for a reason that may pass are tried
   * again in the background until they succeed or the connection ends.
   */
  async restore(connection: AmqpConnection): Promise<void> {
    this.#late.clear();
    const round = ++this.#round;
    const items = this.#items();
    const calls = new Calls(connection);
    try {
      const results = await Promise.allSettled(items.map((item) => item.declare(calls)));
      const failed = items.filter((_, index) => results[index]?.status === 'rejected');
      await this.#oneByOne(connection, failed, round);
    } finally {
      calls.end();
    }
  }

  async #oneByOne(connection: AmqpConnection, items: readonly Item[], round: number, pauses?: Pauses): Promise<void> {
    const late: Item[] = [];
    for (const item of items) {
      if (!connection.isOpen || round !== this.#round) return;
      const calls = new Calls(connection);
      try {
        await item.declare(calls);
        if (item.queue !== undefined) this.#late.delete(item.queue);
      } catch (error) {
        if (!connection.isOpen) return;
        if (mayPass(error) || codeOf(error) === locked) {
          late.push(item);
          if (item.queue !== undefined) this.#late.add(item.queue);
        } else {
          const reason = textOf(error);
          this.warn(`${item.what} could not be declared again: ${reason}`, 'declarationFailed', reason);
        }
      } finally {
        calls.end();
      }
    }
    if (late.length === 0) return;
    if (pauses === undefined) {
      const what = late.map((item) => item.what).join(', ');
      this.warn(`${what}: the server cannot declare this now; it is tried again`, 'declarationWaits');
    }
    this.#later(connection, late, round, pauses ?? this.pauses());
  }

  #later(connection: AmqpConnection, items: readonly Item[], round: number, pauses: Pauses): void {
    after(this.clock, pauses.next(), () => {
      void this.#oneByOne(connection, items, round, pauses);
    });
  }

  #items(): readonly Item[] {
    const items: Item[] = [];
    for (const exchange of this.#exchanges.values()) {
      const declare = (calls: Calls): Promise<void> => declareExchange(calls, exchange);
      items.push({ what: `exchange '${exchange.name}'`, queue: undefined, declare });
    }
    for (const queue of this.#queues.values()) {
      const declare = (calls: Calls): Promise<void> => declareQueue(calls, queue);
      items.push({ what: `queue '${queue.name}'`, queue: queue.name, declare });
    }
    for (const binding of this.#bindings.values()) {
      const { source, destination } = binding;
      const declare = (calls: Calls): Promise<void> => bind(calls, binding);
      items.push({ what: `binding of '${destination}' to exchange '${source}'`, queue: undefined, declare });
    }
    return items;
  }
}

/** After this many milliseconds without a restore the next one begins at once. */
const quiet = 60_000;

/** Declares the topology again when a publish finds that an exchange of it is gone. Restores that follow one another have pauses that grow. */
export class Restoring {
  #last = -Infinity;
  #pauses: Pauses | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly pauses: () => Pauses,
    private readonly desired: DesiredTopology,
  ) {}

  /**
   * @param then called once: false at once for an exchange that was never declared here; true when the declarations were made again or
   *   failed, or the connection ended, after which they are made again anyway
   */
  restore(exchange: string, connection: AmqpConnection | undefined, then: (mayBeThere: boolean) => void): void {
    if (!this.desired.hasExchange(exchange)) return then(false);
    if (connection === undefined) return then(true);
    this.#running ??= this.#restore(connection).finally(() => (this.#running = undefined));
    const again = (): void => then(true);
    this.#running.then(again, again);
  }

  async #restore(connection: AmqpConnection): Promise<void> {
    const isFirst = this.clock.now() - this.#last >= quiet;
    if (isFirst) this.#pauses = this.pauses();
    const pause = isFirst ? 0 : (this.#pauses?.next() ?? 0);
    if (pause > 0) await new Promise<void>((resolve) => after(this.clock, pause, resolve));
    if (connection.isOpen) await this.desired.restore(connection);
    this.#last = this.clock.now();
  }
}
