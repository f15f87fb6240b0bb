import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { Random } from '../random.js';
import { Client, sent } from './client.js';
import type { Ledger } from './ledger.js';
import { marks } from './topology.js';

const prefetch = 50;
/** After so many acks a publish on the same channel makes them safe, when it is confirmed. */
const acksPerMark = 50;
/** Of a hundred deliveries. */
const rejected = 8;
const requeued = 4;
const slow = 5;

/** Consumes one queue: acks most messages, some late, rejects some, and requeues some. */
export class Worker extends Client {
  handled = 0;
  #acked: number[] = [];
  /** Acks whose mark is not confirmed yet. */
  #marked = new Set<readonly number[]>();
  #mark: () => void = () => undefined;

  /** @param isDraining whether it only acks */
  constructor(
    address: () => string | undefined,
    private readonly queue: string,
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly isDraining: () => boolean,
  ) {
    super(address);
  }

  /** Whether every ack is safe, after a last mark. */
  isSafe(): boolean {
    this.#mark();
    return this.#acked.length === 0 && this.#marked.size === 0;
  }

  protected async open(connection: ChannelModel, lost: Promise<void>): Promise<void> {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    let isLost = false;
    void lost.then(() => {
      isLost = true;
      this.#mark = () => undefined;
      this.ledger.uncertain([...this.#marked].flat());
      this.ledger.uncertain(this.#acked);
      this.#acked = [];
      this.#marked.clear();
    });
    this.#mark = () => {
      if (isLost || this.#acked.length === 0) return;
      const acked = this.#acked;
      this.#acked = [];
      this.#marked.add(acked);
      const confirmed = (error: unknown): void => {
        if (error !== null || isLost) return;
        this.#marked.delete(acked);
        this.ledger.safe(acked);
      };
      sent(() => channel.publish('', marks, Buffer.alloc(0), { persistent: true }, confirmed));
    };
    await channel.prefetch(prefetch);
    await channel.consume(this.queue, (message) => {
      if (message === null || isLost) return;
      this.ledger.delivered(numberOf(message));
      this.#take(channel, message, () => isLost);
    });
  }

  #take(channel: ConfirmChannel, message: ConsumeMessage, isLost: () => boolean): void {
    const fate = this.isDraining() ? 100 : this.random.integer(1, 100);
    if (fate <= rejected + requeued) return void sent(() => channel.reject(message, fate > rejected));
    const ack = (): void => {
      if (isLost() || !sent(() => channel.ack(message))) return;
      const number = numberOf(message);
      this.ledger.handled(number);
      this.handled++;
      if (this.#acked.push(number) >= acksPerMark) this.#mark();
    };
    if (fate <= rejected + requeued + slow) setTimeout(ack, this.random.integer(1, 200));
    else ack();
  }
}

const numberOf = ({ properties }: ConsumeMessage): number => Number(properties.messageId);
