import { AsyncLocalStorage } from 'node:async_hooks';
import type { BackendDelivery } from '../../../backends/index.js';
import { holdsOf } from '../../../platform/history/index.js';
import type { Admission, AtGate, Failed, Gate, Hold } from '../../core/handler.js';
import { unavailable } from '../../core/holding.js';
import type { Circuit, CircuitState } from './circuit.js';

/** A pause by a caller. */
export interface Pause {
  readonly reason: string | undefined;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Decides how many messages the handlers of a queue get: none while they are paused, and otherwise as their circuit says. */
export class HandlerGate implements Gate {
  #pause: Pause | undefined;
  /** The epochs of the circuit in which handlers got their messages. */
  readonly #epochs = new WeakMap<BackendDelivery, number>();

  constructor(
    readonly queue: string,
    /** Undefined: its handlers have none. */
    readonly circuit: Circuit | undefined,
  ) {}

  get pause(): Pause | undefined {
    return this.#pause;
  }

  get admission(): Admission {
    if (this.#pause !== undefined) return 'none';
    return admissions[this.circuit?.state ?? 'closed'];
  }

  get wait(): number {
    return this.circuit?.pause ?? 0;
  }

  /** @returns false if it was paused before; then its reason stays */
  close(pause: Pause): boolean {
    if (this.#pause !== undefined) return false;
    this.#pause = pause;
    return true;
  }

  /** @returns false if it was not paused */
  open(): boolean {
    const wasPaused = this.#pause !== undefined;
    this.#pause = undefined;
    return wasPaused;
  }

  /** The cancel of the consumer was on its way when the message came, or the message is a probe. */
  admits(message: AtGate): boolean {
    if (this.#pause === undefined) return this.circuit?.admits(message) !== false;
    message.giveBack();
    return false;
  }

  begin(delivery: BackendDelivery): void {
    if (this.circuit !== undefined) this.#epochs.set(delivery, this.circuit.begin());
  }

  succeeded(delivery: BackendDelivery): void {
    const epoch = this.#epochs.get(delivery);
    if (epoch !== undefined) this.circuit?.succeeded(epoch);
  }

  failed({ delivery, planned: { retry }, error }: Failed): Hold | undefined {
    if (this.circuit === undefined) return unavailable(error);
    const epoch = this.#epochs.get(delivery) ?? 0;
    return this.circuit.failed({ error, retry, epoch, holds: holdsOf(delivery.message) });
  }

  ended(delivery: BackendDelivery): void {
    const epoch = this.#epochs.get(delivery);
    if (epoch !== undefined) this.circuit?.ended(epoch);
  }

  closedSince(time: number): number {
    return this.circuit?.outageSince(time) ?? 0;
  }
}

const admissions: Readonly<Record<CircuitState, Admission>> = { closed: 'all', probing: 'one', open: 'none' };

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
