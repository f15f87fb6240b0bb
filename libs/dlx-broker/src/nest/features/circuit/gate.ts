import type { Circuit, CircuitState } from './circuit.js';

/** How many messages a consumer may have in hand: as many as its prefetch, one, or none. */
export type Admission = 'all' | 'one' | 'none';

/** A pause by a caller. */
export interface Pause {
  readonly reason: string | undefined;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Decides how many messages the handlers of a queue get: none while they are paused, and otherwise as their circuit says. */
export class Gate {
  #pause: Pause | undefined;

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
}

const admissions: Readonly<Record<CircuitState, Admission>> = { closed: 'all', probing: 'one', open: 'none' };
