/** Something that may run short, so that whoever publishes has to wait. */
export interface Alarm {
  readonly resource: 'memory' | 'disk';
  /** Whether it is short now. Asked twice a second. */
  isRaised(): boolean;
}

/** All alarms of a listener, as its connections see them: as of the last look. */
export class Alarms {
  #raised: readonly Alarm['resource'][] = [];

  constructor(readonly alarms: readonly Alarm[]) {}

  /** What is short, each once. */
  get raised(): readonly Alarm['resource'][] {
    return this.#raised;
  }

  get isRaised(): boolean {
    return this.#raised.length > 0;
  }

  /** What clients are told, in RabbitMQ's order: `low on disk & memory`. */
  get reason(): string {
    return `low on ${this.#raised.join(' & ')}`;
  }

  /** @returns whether the last of them has just ended */
  look(): boolean {
    const was = this.isRaised;
    const raised = this.alarms.filter((alarm) => alarm.isRaised()).map(({ resource }) => resource);
    this.#raised = [...new Set(raised)].sort();
    return was && !this.isRaised;
  }
}
