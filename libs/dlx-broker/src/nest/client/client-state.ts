import type { Subscriber } from 'rxjs';
import { type Backend, type BackendState, OverloadedError } from '../../backends/index.js';
import type { Clock } from '../../engine/broker/index.js';
import { after } from '../../platform/index.js';

/**
 * What `status` of {@link DlxClient} and {@link DlxServer} emits. `blocked`: connected, but the broker takes no publishes at
 * present, because it is short of memory or disk.
 */
export type DlxStatus = 'connected' | 'disconnected' | 'reconnecting' | 'blocked';

const statuses: Readonly<Record<BackendState['kind'], DlxStatus>> = {
  connecting: 'disconnected',
  ready: 'connected',
  blocked: 'blocked',
  reconnecting: 'reconnecting',
  closed: 'disconnected',
};

/**
 * Calls the listener with the present status of a backend, and with each change.
 * @returns what ends it
 */
export function followStatus(
  backend: Pick<Backend, 'state' | 'onState'>,
  emit: (status: DlxStatus) => void,
): () => void {
  emit(statuses[backend.state.kind]);
  return backend.onState((state) => emit(statuses[state.kind]));
}

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

/** A publish failed, because the application or its client was closed before. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';

  constructor() {
    super('the client is closed, as its application is: nothing is published any more');
  }
}

/** Refusals of a client that keep the process alive until the application has the error. */
const mostAwaited = 100;

/**
 * Refuses a request in a later turn: `retry` without a limit would otherwise send it again for ever within one turn, and the application
 * could not end.
 * @param before earlier refusals of this client; after {@link mostAwaited} the process may end before the application has the error
 * @returns withdraws the refusal
 */
export function refuseLater(request: Subscriber<unknown>, before: number): () => void {
  const turn = setImmediate(() => request.error(new ClientClosedError()));
  if (before >= mostAwaited) turn.unref();
  return () => clearImmediate(turn);
}
