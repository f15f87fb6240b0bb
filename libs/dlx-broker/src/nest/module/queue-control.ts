import { type Backend, need, type QueuePause } from '../../backends/index.js';
import { DlxConfigurationError, optionsOf, parseDuration, shown } from '../../platform/options/index.js';

/** How long a queue is paused. */
export interface PauseOptions {
  /** The pause ends by itself after this time, up to 365 days: milliseconds, or a string such as `'1h'`. Default: it lasts. */
  readonly for?: string | number;
}

/**
 * Pauses and resumes one queue, for the consumers of all processes. Possible on the embedded broker and on `dlx-broker serve` with
 * an HTTP API. On a RabbitMQ every method rejects with a NotAvailableError.
 */
export class QueueControl {
  /** @internal Made by `DlxBroker.queue`. */
  constructor(
    /** The name of the queue. */
    readonly name: string,
    private readonly backend: Backend,
  ) {}

  /**
   * Stops the deliveries of the queue; resolves when that is stored. Handlers finish what they have. A second pause replaces reason and
   * end.
   * @param reason up to 500 characters; the console, the HTTP API and the audit log of a server show it
   * @throws DlxConfigurationError for options that are none, TopologyError when there is no such queue, NotAvailableError on a RabbitMQ
   */
  async pause(reason?: string, options: PauseOptions = {}): Promise<void> {
    const origin = `pause() of queue '${this.name}'`;
    if (reason !== undefined && typeof reason !== 'string') {
      throw new DlxConfigurationError(`${origin}: the reason is ${shown(reason)}; write a string`);
    }
    const { for: time } = optionsOf<PauseOptions>(options, origin, "write { for: '1h' }", ['for']);
    const milliseconds = time === undefined ? undefined : parseDuration(time, `${origin}: for`);
    await need(this.backend, 'pausing').pause(this.name, {
      ...(reason !== undefined && { reason }),
      ...(milliseconds !== undefined && { for: milliseconds }),
    });
  }

  /** Ends the pause of the queue, if there is one. @throws as {@link pause} */
  async resume(): Promise<void> {
    await need(this.backend, 'pausing').resume(this.name);
  }

  /** The pause of the queue; undefined while it is not paused. @throws as {@link pause} */
  async paused(): Promise<QueuePause | undefined> {
    return need(this.backend, 'pausing').pauseOf(this.name);
  }
}
