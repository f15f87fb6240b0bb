import type { ConnectionEvents } from './api.js';

/** Calls the listeners of a connection. Their exceptions go to the listener `fault`. */
export class Reports {
  constructor(readonly events: ConnectionEvents) {}

  call(act: ((events: ConnectionEvents) => void) | undefined): void {
    try {
      act?.(this.events);
    } catch (error) {
      this.fault(error);
    }
  }

  /** A callback threw. */
  fault(error: unknown): void {
    try {
      this.events.fault(error);
    } catch {
      // There is no listener for exceptions of `fault`.
    }
  }
}
