import type { Queue } from '../broker/index.js';
import {
  decodePayload,
  deathsOf,
  fromFieldTable,
  type DeathEntry,
  type Plain,
  type Properties,
} from '../message/index.js';
import { Letter } from '../streams/index.js';

/** A message that waits in a queue, as a test looks at it. */
export interface WaitingMessage {
  /** Decoded by its content type, as in a stream of dead letters. */
  readonly payload: unknown;
  readonly body: Uint8Array;
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  /** As plain values, like those of handlers and letters; with their wire types in `properties.headers`. */
  readonly headers: Readonly<Record<string, Plain>>;
  /** The latest first (rule H7). */
  readonly deaths: readonly DeathEntry[];
  readonly redelivered: boolean;
  /** When it expires in this queue, in milliseconds since 1970; undefined for never. */
  readonly expiresAt: number | undefined;
}

/** A queue as it is now; looking changes nothing. */
export class QueueView {
  readonly #find: () => Queue | undefined;

  constructor(
    readonly name: string,
    find: () => Queue | undefined,
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

  /** Messages in the hands of consumers. */
  get unacknowledged(): number {
    return this.#here().unacked;
  }

  get consumers(): number {
    return this.#here().consumers.count;
  }

  /** The messages ready to be delivered, the next one first. */
  messages(): readonly WaitingMessage[] {
    const messages: WaitingMessage[] = [];
    this.#here().peek(({ message, returns, deadline }) => {
      const { properties } = message;
      messages.push({
        payload: decodePayload(message),
        body: message.body,
        exchange: message.exchange,
        routingKey: message.routingKey,
        properties,
        headers: fromFieldTable(properties.headers),
        deaths: deathsOf(message),
        redelivered: returns > 0,
        expiresAt: deadline === 0 ? undefined : deadline,
      });
    });
    return messages;
  }

  /** The same as letters: with their work queue, their origin, their failures. */
  letters<T = unknown>(): readonly Letter<T>[] {
    const letters: Letter<T>[] = [];
    this.#here().peek(({ message }) => void letters.push(new Letter<T>(message, this.name)));
    return letters;
  }

  /** Only their payloads. */
  payloads(): readonly unknown[] {
    return this.messages().map(({ payload }) => payload);
  }

  /** A test that asks for a queue which is not there has most likely mistyped its name. */
  #here(): Queue {
    const queue = this.#find();
    if (queue === undefined) throw new Error(`there is no queue '${this.name}'`);
    return queue;
  }
}
