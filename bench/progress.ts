/** One line on a terminal that is written over: what runs, how much is done, and about how long the rest takes. */
export class Progress {
  #done = 0;
  readonly #start: number;

  /**
   * @param steps all of them
   * @param out the terminal; elsewhere there is a line for each tenth of the work
   * @param now milliseconds
   */
  constructor(
    private readonly steps: number,
    private readonly out: {
      readonly isTTY?: boolean;
      readonly columns?: number;
      write(text: string): unknown;
    } = process.stderr,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#start = this.now();
  }

  /** The next step begins. */
  step(name: string): void {
    const done = this.#done++;
    const line = `${String(Math.floor((done / this.steps) * 100)).padStart(3)} %  ${name}${this.#rest(done)}`;
    if (this.out.isTTY === true) this.out.write(`\r\u001b[K${line.slice(0, (this.out.columns ?? 80) - 1)}`);
    else if (Math.floor((done * 10) / this.steps) !== Math.floor(((done - 1) * 10) / this.steps))
      this.out.write(`${line}\n`);
  }

  /** Removes the line. */
  end(): void {
    if (this.out.isTTY === true) this.out.write('\r\u001b[K');
  }

  #rest(done: number): string {
    if (done === 0) return '';
    const seconds = ((this.now() - this.#start) / 1_000 / done) * (this.steps - done);
    return `, about ${seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`} left`;
  }
}
