import type { Entry } from '../queue/entry.js';
import type { SearchedQueue, TimeOf } from './searched-queue.js';

/** The number of messages in a full block. */
const blockSize = 1_024;

/** A line may have this many blocks more than twice the number that its messages need. */
const slack = 64;

/** A run of messages, in the order of their positions. Those that came later have higher positions. */
interface Block {
  readonly first: number;
  last: number;
  /** The number of messages when the block was last read. Now there may be fewer, but never more. */
  count: number;
  /** The earliest time when the block was last read, and the position of its message. Now it may be later, but never earlier. */
  time: number;
  position: number;
}

/**
 * Finds the oldest of the messages of one priority that were never taken. Such messages come at the end only, so each is read once
 * when it comes, and again only with its block, when the oldest message of the block has left.
 */
export class Line {
  #blocks: Block[] = [];
  /** The position up to which all messages were read. */
  #covered = 0;
  #swept = 0;

  /** @param section see {@link Cursor.section} */
  constructor(
    readonly section: number,
    readonly queue: SearchedQueue,
    readonly timeOf: TimeOf,
  ) {}

  /** Forgets the blocks before the first message. */
  forgetTaken(): void {
    const first = this.#page(0, 1)[0]?.position ?? Infinity;
    let gone = 0;
    while (gone < this.#blocks.length && this.#blocks[gone]!.last < first) gone++;
    if (gone > 0) this.#blocks.splice(0, gone);
  }

  /** Reads messages that came since. @returns how many; fewer than the limit if there are no more */
  extend(limit: number): number {
    const entries = this.#page(this.#covered, limit);
    for (const entry of entries) this.#append(entry);
    return entries.length;
  }

  /** The earliest time; Infinity if no message has one; undefined if a block had to be read again: then call this again. */
  earliest(): number | undefined {
    const best = this.#best();
    if (best === undefined || best.time === Infinity) return Infinity;
    if (this.queue.has(best.position)) return best.time;
    this.#readAgain(this.#blocks.indexOf(best));
    return undefined;
  }

  #best(): Block | undefined {
    let best: Block | undefined;
    for (const block of this.#blocks) if (best === undefined || block.time < best.time) best = block;
    return best;
  }

  #append(entry: Entry): void {
    const { position, message } = entry;
    let block = this.#blocks.at(-1);
    if (block === undefined || block.count >= blockSize) {
      this.#sweep();
      block = { first: position, last: position, count: 0, time: Infinity, position };
      this.#blocks.push(block);
    }
    block.last = position;
    block.count++;
    this.#covered = position;
    note(block, position, this.timeOf(message));
  }

  /** Reads a block again, and joins it to the block before it if both together are small. */
  #readAgain(index: number): void {
    const block = this.#blocks[index]!;
    block.count = 0;
    block.time = Infinity;
    for (let after = block.first - 1; ;) {
      const entries = this.#page(after, blockSize);
      for (const { position, message } of entries) {
        if (position > block.last) break;
        block.count++;
        note(block, position, this.timeOf(message));
      }
      after = entries.at(-1)?.position ?? Infinity;
      if (entries.length < blockSize || after >= block.last) break;
    }
    const before = this.#blocks[index - 1];
    if (block.count === 0) this.#blocks.splice(index, 1);
    else if (before !== undefined && before.count + block.count <= blockSize) {
      before.last = block.last;
      before.count += block.count;
      note(before, block.position, block.time);
      this.#blocks.splice(index, 1);
    }
  }

  /** Keeps the number of blocks in proportion to the messages, if a few messages stay and very many come and go behind them. */
  #sweep(): void {
    for (let times = 0; times < 2; times++) {
      if (this.#blocks.length <= slack + (2 * this.queue.length) / blockSize) return;
      this.#swept = (this.#swept + 1) % this.#blocks.length;
      this.#readAgain(this.#swept);
    }
  }

  /** Messages behind a position. */
  #page(position: number, limit: number): readonly Entry[] {
    const { section } = this;
    const { entries, sections } = this.queue.browse({ after: { section, position }, limit });
    const end = sections.findIndex((each) => each !== section);
    return end < 0 ? entries : entries.slice(0, end);
  }
}

/** Of several messages with the earliest time, the block keeps the last one: it leaves the queue last. */
function note(block: Block, position: number, time: number | undefined): void {
  if (time === undefined || time > block.time || time === Infinity) return;
  block.time = time;
  block.position = position;
}
