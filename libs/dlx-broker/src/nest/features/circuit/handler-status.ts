/** Whether a handler gets messages. */
export interface HandlerStatus {
  /** Class and method: `Payments.pay`. */
  readonly handler: string;
  readonly queue: string;
  /**
   * `running`: it gets messages. `open`: its circuit is open, and it gets none. `probing`: it gets one at a time. `paused`: a caller
   * paused it, and it gets none.
   */
  readonly state: 'running' | 'open' | 'probing' | 'paused';
  /** The name of its circuit. Absent without one. */
  readonly circuit?: string;
  /** Why it is not running: the error that opened its circuit, or the reason of the pause. */
  readonly reason?: string;
  /** Since when it is in this state. Absent while it is running. */
  readonly since?: Date;
  /** When its open circuit tries again. */
  readonly nextProbe?: Date;
}

/** What operators see of handlers, and do with them. */
export interface OperatedHandlers {
  list(): readonly HandlerStatus[];
  pause(handler: string, reason: string | undefined): void;
  resume(handler: string): void;
}
