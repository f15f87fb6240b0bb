import { AsyncLocalStorage } from 'node:async_hooks';

/** A call of a handler. */
interface Call {
  readonly scope: HandlerScope;
  readonly queue: string;
  isAtWork: boolean;
  /** The call in which it was made, of this or another application. */
  readonly outer: Call | undefined;
}

/** One storage for all applications of the process: Node.js 20 visits each storage at each promise. */
const calls = new AsyncLocalStorage<Call>();

/**
 * Says whether a caller is inside of a handler, so that it would wait for its own end; one instance for each application. The storage
 * is used once the application asks for a handler, so that others do not pay for it: a call that began before is not known.
 */
export class HandlerScope {
  #isUsed = false;

  /** True once calls are noted. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Notes the calls that begin from now on. */
  use(): void {
    this.#isUsed = true;
  }

  /** True if this is called by a handler of the queue that is at work. */
  isInside(queue: string): boolean {
    for (let call = calls.getStore(); call !== undefined; call = call.outer) {
      if (call.scope === this && call.queue === queue && call.isAtWork) return true;
    }
    return false;
  }

  /** Runs a handler. @param handle gets a function to be called when the handler has ended */
  run<T>(queue: string, handle: (ended: () => void) => T): T {
    const call: Call = { scope: this, queue, isAtWork: true, outer: calls.getStore() };
    return calls.run(call, handle, () => {
      call.isAtWork = false;
    });
  }
}
