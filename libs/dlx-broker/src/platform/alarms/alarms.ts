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

/** Writes lines for the operator about the memory alarm: one when it begins, and one when it is over. */
export class MemoryNotice {
  #isRaised = false;

  /** @param notice gets the lines */
  constructor(
    private readonly measure: () => MemoryUse,
    private readonly notice: (text: string) => void,
  ) {}

  /** The state when the port is opened. A limit below what the process uses without any message is a mistake of the operator. */
  starts(isRaised: boolean): void {
    this.#change(isRaised, 'publishers wait from the first message. ' + remedy);
  }

  /** The state after a check of the alarms. */
  checked(isRaised: boolean): void {
    this.#change(isRaised, 'publishers wait until there is more; consumers go on');
  }

  #change(isRaised: boolean, effect: string): void {
    if (isRaised === this.#isRaised) return;
    this.#isRaised = isRaised;
    const { used, limit } = this.measure();
    const figures = `In use: ${bytesText(used)}. Limit: ${bytesText(limit)}`;
    this.notice(
      isRaised
        ? `Warning: memory is short: ${effect}. ${figures}`
        : `Memory is sufficient again: publishers go on. ${figures}`,
    );
  }
}

const remedy =
  'The process used more than the limit before it had a client: raise --memory-limit (memoryLimit), ' +
  'to a share of memory such as 0.4, or to a number of bytes such as 600MB (600_000_000 in code)';

/** A number of bytes for a reader: in MB from 1 MB. */
const bytesText = (bytes: number): string =>
  bytes < 1_000_000 ? `${bytes} bytes` : `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
