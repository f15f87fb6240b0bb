import type { ServerChannel } from './channel.js';
import { type ClientError, UnsendableError } from './errors.js';

/** The channels of a connection by their numbers. */
export class Channels {
  readonly #open = new Map<number, ServerChannel>();
  /** Numbers of closed channels, for reuse. */
  readonly #free: number[] = [];
  #last = 0;

  /** @param most channels at a time */
  constructor(readonly most: number) {}

  get(number: number): ServerChannel | undefined {
    return this.#open.get(number);
  }

  /** @returns a number for a new channel, 0 when all are in use */
  free(): number {
    const used = this.#free.pop();
    if (used !== undefined) return used;
    return this.#last < this.most ? ++this.#last : 0;
  }

  add(channel: ServerChannel): void {
    this.#open.set(channel.number, channel);
  }

  delete(channel: { readonly number: number }): void {
    if (this.#open.get(channel.number) !== channel) return;
    this.#open.delete(channel.number);
    this.#free.push(channel.number);
  }

  takeAll(): readonly ServerChannel[] {
    const all = [...this.#open.values()];
    this.#open.clear();
    return all;
  }

  tooMany(): ClientError {
    return new UnsendableError(`all ${this.most} channels that the server allows are open`);
  }
}
