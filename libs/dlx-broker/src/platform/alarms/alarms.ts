import type { MemoryUse } from './memory.js';

/** A resource that may run short, so that publishers have to wait. */
export interface Alarm {
  readonly resource: 'memory' | 'disk';
  /** True while the resource is short. Called twice a second. */
  isRaised(): boolean;
}

/** An alarm that is raised while the process uses more memory than its limit. */
export const memoryAlarm = (measure: () => MemoryUse): Alarm => ({
  resource: 'memory',
  isRaised: () => {
    const { used, limit } = measure();
    return used > limit;
  },
});

/** After this many received bytes the alarms are checked at once: a fast network fills the memory between two checks. */
const checkAfter = 16_777_216;

/** All alarms of a listener. Its connections see the state of the last check. */
export class Alarms {
  #raised: readonly Alarm['resource'][] = [];
  #received = 0;

  constructor(readonly alarms: readonly Alarm[]) {}

  /** The resources that are short, each once. */
  get raised(): readonly Alarm['resource'][] {
    return this.#raised;
  }

  get isRaised(): boolean {
    return this.#raised.length > 0;
  }

  /** The reason for clients, in RabbitMQ's order: `low on disk & memory`. */
  get reason(): string {
    return `low on ${this.#raised.join(' & ')}`;
  }

  /** Counts received bytes. After many of them the alarms are checked at once, so that they are raised in time. */
  received(bytes: number): void {
    this.#received += bytes;
    if (this.#received >= checkAfter && !this.isRaised) this.check();
  }

  /** Checks all alarms. @returns true when the last raised alarm has just ended */
  check(): boolean {
    this.#received = 0;
    const was = this.isRaised;
    const raised = this.alarms.filter((alarm) => alarm.isRaised()).map(({ resource }) => resource);
    this.#raised = [...new Set(raised)].sort();
    return was && !this.isRaised;
  }
}
