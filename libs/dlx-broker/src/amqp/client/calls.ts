import type { MethodReader } from '../wire/index.js';
import type { ClientError } from './errors.js';

/** A method that waits for its answer. */
export interface Call {
  /** Class and method of the answer. */
  readonly reply: number;
  /** Reads the answer. @returns what the callback gets */
  read(from: MethodReader): unknown;
  /** Called once. */
  done(failure: ClientError | undefined, value?: unknown): void;
}

/** Methods of a channel in the order in which they were sent; answers come in the same order. */
export class Calls {
  #waiting: Call[] = [];
  #next = 0;

  get first(): Call | undefined {
    return this.#waiting[this.#next];
  }

  add(call: Call): void {
    this.#waiting.push(call);
  }

  /** Takes the first one out. */
  shift(): Call | undefined {
    const call = this.#waiting[this.#next];
    if (call === undefined) return undefined;
    this.#next += 1;
    if (this.#next < this.#waiting.length) return call;
    this.#waiting = [];
    this.#next = 0;
    return call;
  }

  /** Takes all of them out. */
  drain(): readonly Call[] {
    const rest = this.#waiting.slice(this.#next);
    this.#waiting = [];
    this.#next = 0;
    return rest;
  }
}
