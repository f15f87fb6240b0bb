/** Many things of one kind, which are made and removed. */
export interface Scene {
  /** What there are many of. */
  readonly thing: string;
  /** What exactly was made. */
  readonly details: string;
  /** The most of them; the time of one is compared with that of one of a tenth of them. */
  readonly count: number;
  /** Prepares everything else. */
  open(): Promise<Made> | Made;
}

export interface Made {
  /** Makes so many of them. */
  make(count: number): Promise<void> | void;
  /** Removes all that were made. */
  remove(): Promise<void> | void;
  close?(): Promise<void>;
}

/** The figures of one run. */
export interface Cost {
  readonly count: number;
  /** Of one thing. */
  readonly bytes: number;
  /** Processor time of one thing, in microseconds. */
  readonly made: number;
  readonly removed: number;
}
