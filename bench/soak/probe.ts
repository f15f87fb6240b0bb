import type { ChannelModel } from 'amqplib';
import { Client, sent } from './client.js';

const period = 25;

/** Milliseconds of a window. */
export interface Latencies {
  readonly delivered: number;
  readonly deliveredLate: number;
  readonly confirmed: number;
  readonly confirmedLate: number;
}

/** Measures how long a transient message takes to its consumer, and how long the confirm of a durable one takes. */
export class Probe extends Client {
  /** No message is sent meanwhile: the server collects garbage on request. */
  isPaused = false;
  #delivered: number[] = [];
  #confirmed: number[] = [];

  protected async open(connection: ChannelModel, lost: Promise<void>): Promise<void> {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const { queue } = await channel.assertQueue('', { exclusive: true, durable: false });
    await channel.assertQueue('probe', { durable: true, maxLength: 1 });
    await channel.consume(
      queue,
      (message) => void this.#delivered.push(performance.now() - Number(message?.content.toString())),
      { noAck: true },
    );
    const timer = setInterval(() => {
      if (this.isPaused) return;
      const now = performance.now();
      const confirmed = (error: unknown): void => {
        if (error === null) this.#confirmed.push(performance.now() - now);
      };
      sent(() => {
        channel.publish('', queue, Buffer.from(String(now)), {}, () => undefined);
        channel.publish('', 'probe', Buffer.alloc(200), { persistent: true }, confirmed);
      });
    }, period);
    await lost;
    clearInterval(timer);
  }

  /** The medians and the 99th percentiles since the last call; NaN without a message. */
  window(): Latencies {
    const [delivered, confirmed] = [this.#delivered, this.#confirmed];
    this.#delivered = [];
    this.#confirmed = [];
    return {
      delivered: part(delivered, 0.5),
      deliveredLate: part(delivered, 0.99),
      confirmed: part(confirmed, 0.5),
      confirmedLate: part(confirmed, 0.99),
    };
  }
}

const part = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? NaN;
