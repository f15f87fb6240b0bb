import type { Clock } from '../../../engine/broker/index.js';
import { after } from '../../../platform/index.js';
import type { AmqpConnection } from '../../../amqp/client/index.js';
import type { Pauses } from '../pauses.js';
import type { DesiredTopology } from './desired.js';

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
