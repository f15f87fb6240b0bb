import type { MemoryUse } from './memory.js';

/** A resource that may run short, so that publishers have to wait. */
export interface Alarm {
  readonly resource: 'memory' | 'disk';
  /** Whether it is short now. Asked twice a second. */
  isRaised(): boolean;
}

/** Raised while more is in use than there may be. */
export const memoryAlarm = (measure: () => MemoryUse): Alarm => ({
  resource: 'memory',
  isRaised: () => {
    const { used, limit } = measure();
    return used > limit;
  },
});

/** Bytes received since the last look after which it is looked again at once: a fast network fills memory in no time. */
const lookAfter = 16_777_216;

/** All alarms of a listener, as its connections see them: as of the last look. */
export class Alarms {
  #raised: readonly Alarm['resource'][] = [];
  #received = 0;

  constructor(readonly alarms: readonly Alarm[]) {}

  /** What is short, each once. */
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

  /** So many bytes were received that may stay: after many of them it is looked again, so that alarms are raised in time. */
  received(bytes: number): void {
    this.#received += bytes;
    if (this.#received >= lookAfter && !this.isRaised) this.look();
  }

  /** @returns whether the last of them has just ended */
  look(): boolean {
    this.#received = 0;
    const was = this.isRaised;
    const raised = this.alarms.filter((alarm) => alarm.isRaised()).map(({ resource }) => resource);
    this.#raised = [...new Set(raised)].sort();
    return was && !this.isRaised;
  }
}
