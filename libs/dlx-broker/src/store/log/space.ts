import type { Disk } from './disk.js';

/** Looks at the free space of the disk now and then, and more often while there is too little. */
export class Space {
  /** Fewer bytes are free than there should be, or a write found no room. */
  isLow = false;
  /** As last seen. */
  free: number | undefined;
  /** Called when a write found no room. */
  whenExhausted: () => void = () => undefined;
  #isShort = false;
  #isExhausted = false;
  #isClosed = false;
  #isLooking = false;
  #lastLook = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;

  constructor(
    readonly disk: Disk,
    /** Bytes that should be free. */
    readonly wanted: number,
    /** Milliseconds between two looks. */
    readonly interval: number,
    readonly changed: (isLow: boolean) => void,
    readonly failed: (error: unknown) => void,
  ) {}

  /** The last write found no room, and there has been none since. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Whether so many bytes may be taken for what is not needed yet. */
  hasSpare(bytes: number): boolean {
    return !this.isLow && (this.free === undefined || this.free - bytes >= this.wanted);
  }

  /** Something was written. */
  mind(): void {
    const now = performance.now();
    if (now - this.#lastLook < this.interval) return;
    this.#lastLook = now;
    void this.look();
  }

  async look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    try {
      this.free = await this.disk.free();
      this.#isShort = this.free !== undefined && this.free < this.wanted;
      this.#judge();
    } catch (error) {
      this.failed(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** A write of so many bytes found no room: resolves when another try makes sense, or when there will be none. */
  async exhausted(needed: number): Promise<void> {
    this.#isExhausted = true;
    this.#judge();
    this.whenExhausted();
    while (!this.#isClosed) {
      await new Promise<void>((resolve) => {
        // It keeps the process alive: what waits for room must not end in silence with an event loop that has no other
        // work.
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

  /** It went well. */
  relieved(): void {
    if (!this.#isExhausted) return;
    this.#isExhausted = false;
    void this.look();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#wake?.();
  }

  #judge(): void {
    const isLow = this.#isShort || this.#isExhausted;
    clearTimeout(this.#timer);
    if (isLow && !this.#isClosed) this.#timer = setTimeout(() => void this.look(), this.interval).unref();
    if (isLow === this.isLow) return;
    this.isLow = isLow;
    this.changed(isLow);
  }
}
