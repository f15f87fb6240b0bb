import { OverloadedError } from '../../backends/index.js';
import type { Clock } from '../../engine/broker/index.js';
import { after } from '../../platform/index.js';

/** Milliseconds for which a client waits for the start of its application. */
const longestStart = 30_000;

/** Holds back what an application publishes before its topology is declared, as in a constructor: it would reach no queue. */
export class StartGate {
  #isOpen = false;
  #settle!: { readonly open: () => void; readonly fail: (reason: Error) => void };
  readonly #opened = new Promise<void>((open, fail) => (this.#settle = { open, fail }));

  constructor(private readonly clock: Clock) {
    this.#opened.catch(() => undefined); // reported by each publish
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The topology is declared. */
  open(): void {
    this.#isOpen = true;
    this.#settle.open();
  }

  /** The topology will never be declared. */
  fail(reason: Error): void {
    this.#settle.fail(reason);
  }

  /** @throws OverloadedError when the application does not start, perhaps because it waits for this publish; the reason of {@link fail} */
  opened(): Promise<void> {
    if (this.#isOpen) return this.#opened;
    return new Promise((resolve, reject) => {
      const cancel = after(this.clock, longestStart, () => reject(new OverloadedError(notStarted)));
      void this.#opened.then(resolve, reject).finally(cancel);
    });
  }
}

const notStarted =
  `nothing was sent within ${longestStart} ms, because the application has not started: exchanges and queues are declared when all ` +
  'providers are made. Await emit and send in onModuleInit or later, not in a constructor or in useFactory';
