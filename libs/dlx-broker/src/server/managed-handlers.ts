/** A handler of an application in this process. */
export interface ManagedHandler {
  /** Class and method: `Payments.pay`. */
  readonly handler: string;
  readonly queue: string;
  readonly state: 'running' | 'open' | 'probing' | 'paused';
  /** The name of its circuit. Absent without one. */
  readonly circuit?: string;
  /** Why it is not running. */
  readonly reason?: string;
  /** Since when it is in this state. Absent while it is running. */
  readonly since?: Date;
  /** When its open circuit tries again. */
  readonly nextProbe?: Date;
}

/** The handlers of one broker of an application, to show and to pause. */
export interface ManagedHandlers {
  /** The virtual host of their queues. */
  readonly vhost: string;
  list(): readonly ManagedHandler[];
  pause(handler: string, reason: string | undefined): void;
  resume(handler: string): void;
}
