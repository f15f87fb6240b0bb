import type { MemoryUse } from './memory.js';

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
