import type { Queue } from '../../engine/broker/index.js';
import { decodePayload, historyOf } from '../../platform/history/index.js';
import { type DeathEntry, fromFieldTable, type Plain, type Properties } from '../../engine/message/index.js';
import { didYouMean } from '../../platform/options/index.js';
import { Letter } from '../streams/index.js';

/** A message that waits in a queue. */
export interface WaitingMessage {
  /** Decoded by its content type, as in a stream of dead letters. */
  readonly payload: unknown;
  readonly body: Uint8Array;
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  /** The headers as plain values, as in handlers and letters. `properties.headers` has them with their wire types. */
  readonly headers: Readonly<Record<string, Plain>>;
  /** Since it was published or redriven, the latest first (rule H7). */
  readonly deaths: readonly DeathEntry[];
  readonly redelivered: boolean;
  /** When it expires in this queue, in milliseconds since 1970; undefined for never. */
  readonly expiresAt: number | undefined;
}

/** The present state of a queue, read without consuming. */
export class QueueView {
  readonly #find: () => Queue | undefined;

  /** @param names the queues that there are */
  constructor(
    readonly name: string,
    find: () => Queue | undefined,
    private readonly names: () => readonly string[] = () => [],
  ) {
    this.#find = find;
  }

  get exists(): boolean {
    return this.#find() !== undefined;
  }

  /** Messages ready to be delivered. */
  get ready(): number {
    return this.#here().length;
  }

  /** Messages that were delivered and are not settled. */
  get unacknowledged(): number {
    return this.#here().unacked;
  }

  get consumers(): number {
    return this.#here().consumers.count;
  }

  /** The messages ready to be delivered, the next one first. */
  messages(): readonly WaitingMessage[] {
    const messages: WaitingMessage[] = [];
    this.#here().peek(({ message, redelivered, deadline }) => {
      const { properties } = message;
      messages.push({
        payload: decodePayload(message),
        body: message.body,
        exchange: message.exchange,
        routingKey: message.routingKey,
        properties,
        headers: fromFieldTable(properties.headers),
        deaths: historyOf(message),
        redelivered,
        expiresAt: deadline === 0 ? undefined : deadline,
      });
    });
    return messages;
  }

  /** The ready messages as letters: with their work queue, their origin, their failures. */
  letters<T = unknown>(): readonly Letter<T>[] {
    const letters: Letter<T>[] = [];
    this.#here().peek(({ message }) => void letters.push(new Letter<T>(message, this.name)));
    return letters;
  }

  /** The payloads of the ready messages. */
  payloads(): readonly unknown[] {
    return this.messages().map(({ payload }) => payload);
  }

  /** @internal A text about a queue that does not exist, because the test has probably mistyped its name; '' for one that does. */
  get missing(): string {
    return this.exists ? '' : `there is no queue '${this.name}'${didYouMean(this.name, this.names())}`;
  }

  /** The queue. @throws when it does not exist */
  #here(): Queue {
    const queue = this.#find();
    if (queue === undefined) throw new Error(this.missing);
    return queue;
  }
}
