import type { ConnectionEvents } from './api.js';

/** Calls the listeners of a connection. What they throw goes to the listener for faults, and no further. */
export class Reports {
  constructor(readonly events: ConnectionEvents) {}

  /** Calls back. */
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
      // A fault of the listener for faults has no other listener.
    }
  }
}
