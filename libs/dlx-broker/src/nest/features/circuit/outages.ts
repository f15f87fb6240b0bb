/** The most outages that are remembered. */
const most = 100;

/** When a circuit was not closed, so that an outage takes nothing of the deadline of a message. */
export class Outages {
  readonly #ended: (readonly [from: number, to: number])[] = [];
  #from: number | undefined;

  begin(now: number): void {
    this.#from ??= now;
  }

  end(now: number): void {
    if (this.#from === undefined) return;
    this.#ended.push([this.#from, now]);
    if (this.#ended.length > most) this.#ended.shift();
    this.#from = undefined;
  }

  /** The milliseconds of outages since a time. */
  since(time: number, now: number): number {
    let all = this.#from === undefined ? 0 : Math.max(0, now - Math.max(time, this.#from));
    for (const [from, to] of this.#ended) all += Math.max(0, to - Math.max(time, from));
    return all;
  }
}
