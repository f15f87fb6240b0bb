import { type Disk, processRuntime, type Runtime } from './options.js';

/** Checks the free space of the disk after writes, and regularly while there is too little. */
export class Space {
  /** Fewer bytes are free than the limit, or a write found no room. */
  isLow = false;
  /** Free bytes at the last check. */
  free: number | undefined;
  /** Called when a write found no room. */
  onExhausted: () => void = () => undefined;
  #isShort = false;
  #isExhausted = false;
  #isClosed = false;
  #isChecking = false;
  #lastCheck = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;

  constructor(
    readonly disk: Disk,
    /** Bytes that should stay free. */
    readonly limit: number,
    /** Milliseconds between two checks. */
    readonly interval: number,
    readonly changed: (isLow: boolean) => void,
    readonly failed: (error: unknown) => void,
    readonly runtime: Pick<Runtime, 'now'> = processRuntime,
  ) {}

  /** The last write found no room. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Whether this many bytes may be allocated in advance. */
  hasSpare(bytes: number): boolean {
    return !this.isLow && (this.free === undefined || this.free - bytes >= this.limit);
  }

  /** Called after each batch: checks the free space if the last check is long enough ago. */
  afterWrite(): void {
    const now = this.runtime.now();
    if (now - this.#lastCheck < this.interval) return;
    this.#lastCheck = now;
    void this.check();
  }

  async check(): Promise<void> {
    if (this.#isChecking || this.#isClosed) return;
    this.#isChecking = true;
    try {
      this.free = await this.disk.free();
      this.#isShort = this.free !== undefined && this.free < this.limit;
      this.#update();
    } catch (error) {
      this.failed(error);
    } finally {
      this.#isChecking = false;
    }
  }

  /** Called when a write of this many bytes found no room. Resolves when there is room, or when the log is closed. */
  async waitForRoom(needed: number): Promise<void> {
    this.#isExhausted = true;
    this.#update();
    this.onExhausted();
    while (!this.#isClosed) {
      await new Promise<void>((resolve) => {
        // This timer keeps the process alive: otherwise a process without other work would end and lose the batch
        // that waits.
        const timer = setTimeout(resolve, this.interval);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.free = await this.disk.free();
      if (this.free === undefined || this.free >= needed) return;
    }
  }

  /** A write succeeded. */
  succeeded(): void {
    if (!this.#isExhausted) return;
    this.#isExhausted = false;
    void this.check();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#wake?.();
  }

  #update(): void {
    const isLow = this.#isShort || this.#isExhausted;
    clearTimeout(this.#timer);
    if (isLow && !this.#isClosed) this.#timer = setTimeout(() => void this.check(), this.interval).unref();
    if (isLow === this.isLow) return;
    this.isLow = isLow;
    this.changed(isLow);
  }
}
