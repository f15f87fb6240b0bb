/** What became of numbered messages. */
export class Account {
  readonly confirmed = new Set<number>();
  /** These publishes failed: their messages may have arrived or not. */
  readonly failed = new Set<number>();
  /** How often a message was handled without an error. */
  readonly handled = new Map<number, number>();
  /** Messages that were handled again, and not recognisable: with another message id than before. */
  readonly unflagged: number[] = [];
  /** Milliseconds: the longest time without a confirm while messages were published, by what was done to the nodes. */
  readonly longestGaps = new Map<string, number>();
  /** What is done to the nodes now. */
  phase = 'start';
  readonly #ids = new Map<number, string | undefined>();
  #lastConfirm = 0;
  #gap = 0;

  /** @returns the longest time without a confirm since the last call, in milliseconds */
  takeGap(): number {
    const gap = this.#gap;
    this.#gap = 0;
    return gap;
  }

  published(): void {
    if (this.#lastConfirm === 0) this.#lastConfirm = performance.now();
  }

  confirm(number: number): void {
    const now = performance.now();
    this.#gap = Math.max(this.#gap, now - this.#lastConfirm);
    this.longestGaps.set(this.phase, Math.max(this.longestGaps.get(this.phase) ?? 0, this.#gap));
    this.#lastConfirm = now;
    this.confirmed.add(number);
  }

  handle(number: number, id: string | undefined): void {
    const times = this.handled.get(number) ?? 0;
    if (times > 0 && (id === undefined || id !== this.#ids.get(number))) this.unflagged.push(number);
    this.handled.set(number, times + 1);
    this.#ids.set(number, id);
  }

  /** What was confirmed and not handled yet: at the end these are lost. */
  get missing(): readonly number[] {
    return [...this.confirmed].filter((number) => !this.handled.has(number));
  }

  get duplicates(): number {
    return [...this.handled.values()].reduce((sum, times) => sum + times - 1, 0);
  }

  /** One line with all figures. */
  toString(): string {
    const { confirmed, failed, missing, duplicates, unflagged } = this;
    const gaps = [...this.longestGaps].map(([phase, gap]) => `${phase} ${(gap / 1_000).toFixed(1)} s`).join(', ');
    return (
      `${confirmed.size} confirmed, ${failed.size} failed, ${missing.length} lost, ` +
      `${duplicates} twice (${unflagged.length} of them not recognisable by the message id); ` +
      `longest time without a confirm: ${gaps}`
    );
  }
}
