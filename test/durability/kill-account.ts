/** The state of a message, as its client knows it. */
interface Known {
  confirmed: boolean;
  settled: 'ack' | 'reject' | undefined;
  /** A later publish on the same channel was confirmed: the settlement is durable. */
  flushed: boolean;
}

/** A message that is in its queue after a restart. */
export interface Found {
  readonly queue: 'work' | 'dead';
  readonly id: number;
  readonly redelivered: boolean;
  readonly bodyIsRight: boolean;
}

/**
 * The account of one client over many restarts of its server: what the server confirmed, and what is there. It uses only what
 * clients can see.
 */
export class KillAccount {
  readonly #known = new Map<number, Known>();
  /** Settlements that wait for the confirm of a later publish, with its number. */
  #unflushed: { readonly id: number; readonly before: number }[] = [];
  #lastId = 0;
  readonly totals = { published: 0, confirmed: 0, settled: 0, kept: 0, duplicates: 0, lostUnconfirmed: 0 };

  publish(): number {
    this.totals.published++;
    this.#known.set(++this.#lastId, { confirmed: false, settled: undefined, flushed: false });
    return this.#lastId;
  }

  confirmed(id: number): void {
    this.totals.confirmed++;
    const known = this.#known.get(id);
    if (known !== undefined) known.confirmed = true;
    this.#flushedBefore(id);
  }

  settled(id: number, how: 'ack' | 'reject'): void {
    this.totals.settled++;
    const known = this.#known.get(id);
    if (known === undefined) return;
    known.settled = how;
    this.#unflushed.push({ id, before: this.#lastId + 1 });
  }

  /** A message with a durable settlement: it must never come back. */
  forget(id: number): void {
    this.#known.delete(id);
  }

  /** Compares the account with all messages, in the order of their delivery. @returns what is wrong */
  audit(found: readonly Found[]): string[] {
    const wrong: string[] = [];
    const places = new Map<number, Found>();
    let last = 0;
    for (const each of found) {
      const { queue, id, redelivered } = each;
      const known = this.#known.get(id);
      const what = `message ${id} in ${queue}`;
      if (places.has(id)) wrong.push(`${what}, and in ${places.get(id)?.queue} too`);
      places.set(id, each);
      if (!each.bodyIsRight) wrong.push(`${what} has another body`);
      if (known === undefined) {
        wrong.push(`${what} came back, though it was gone for good`);
        continue;
      }
      if (queue === 'work') {
        if (id < last) wrong.push(`${what} comes after ${last}`);
        last = id;
        if (known.settled === undefined) continue;
        this.totals.duplicates++;
        if (known.flushed) wrong.push(`${what} although its ${known.settled} was safe`);
        if (!redelivered) wrong.push(`${what} again, but is not flagged redelivered`);
      } else if (known.settled !== 'reject') wrong.push(`${what} without a rejection`);
    }
    for (const [id, known] of this.#known) {
      if (places.has(id)) continue;
      if (known.confirmed && known.settled !== 'ack') wrong.push(`message ${id} was confirmed, and is lost`);
      if (!known.confirmed) this.totals.lostUnconfirmed++;
    }
    this.#startAnew(places);
    return wrong;
  }

  /** Continues with the messages that were found: the others are gone. */
  #startAnew(places: ReadonlyMap<number, Found>): void {
    this.totals.kept += places.size;
    this.#known.clear();
    for (const [id, { queue }] of places) {
      this.#known.set(id, {
        confirmed: true,
        settled: queue === 'dead' ? 'reject' : undefined,
        flushed: queue === 'dead',
      });
    }
    this.#unflushed = [];
  }

  #flushedBefore(id: number): void {
    let count = 0;
    for (const settlement of this.#unflushed) {
      if (settlement.before > id) break;
      const known = this.#known.get(settlement.id);
      if (known !== undefined) known.flushed = true;
      if (known?.settled === 'ack') this.#known.delete(settlement.id);
      count++;
    }
    this.#unflushed.splice(0, count);
  }
}
