import type { ChannelModel } from 'amqplib';
import type { Random } from '../random.js';
import { Client, sent } from './client.js';
import type { Ledger } from './ledger.js';
import { exchange, keys } from './topology.js';

const tick = 50;
const mostOutstanding = 500;
const bodies = [16, 200, 1_000, 4_000].map((size) => Buffer.alloc(size, 'x'));

/** Publishes numbered persistent messages at a steady rate, and counts their confirms. */
export class Publisher extends Client {
  isStopped = false;
  outstanding = 0;

  /** @param rate messages a second */
  constructor(
    address: () => string | undefined,
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly rate: number,
  ) {
    super(address);
  }

  protected async open(connection: ChannelModel, lost: Promise<void>): Promise<void> {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    let [isLost, due] = [false, 0];
    this.outstanding = 0;
    const publish = (): void => {
      const number = this.ledger.publish();
      this.outstanding++;
      const properties = { persistent: true, messageId: String(number), priority: this.random.integer(0, 5) };
      const [key, body] = [this.random.pick(keys), this.random.pick(bodies)];
      const confirmed = (error: unknown): void => {
        // The confirms of a lost connection fail, and count no more.
        if (isLost) return;
        this.outstanding--;
        if (error === null) this.ledger.confirmed(number);
      };
      sent(() => channel.publish(exchange, key, body, properties, confirmed));
    };
    const timer = setInterval(() => {
      if (this.isStopped || isLost) return;
      for (due += (this.rate * tick) / 1_000; due >= 1; due--) if (this.outstanding < mostOutstanding) publish();
    }, tick);
    await lost;
    isLost = true;
    this.outstanding = 0;
    clearInterval(timer);
  }
}
