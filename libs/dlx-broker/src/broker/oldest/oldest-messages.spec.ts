import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Message } from '../../message/index.js';
import { pageOf } from '../queue/browse.js';
import { Entry } from '../queue/entry.js';
import { PriorityList } from '../queue/priority-list.js';
import { QuorumList } from '../queue/quorum-list.js';
import { type Ready, ReadyList, type ReturnTo } from '../queue/ready-list.js';
import type { Oldest } from './oldest-message.js';
import { OldestMessages } from './oldest-messages.js';

/** Messages die at the time in their `timestamp`; those without one are not dead. */
const timeOf = ({ own: { timestamp } }: Message): number | undefined =>
  timestamp === undefined ? undefined : Number(timestamp);

/** A queue of which only the ready messages are there, and the number of messages that were looked at. */
class Shelf {
  looked = 0;
  browses = 0;
  #position = 0;
  readonly taken: Entry[] = [];

  constructor(
    readonly ready: Ready,
    readonly to: ReturnTo = 'original',
  ) {}

  get length(): number {
    return this.ready.length;
  }

  get lengths(): readonly number[] | undefined {
    return this.ready.lengths?.();
  }

  browse(browse: Parameters<typeof pageOf>[1]): ReturnType<typeof pageOf> {
    const page = pageOf(this.ready, browse);
    this.browses++;
    this.looked += page.entries.length;
    return page;
  }

  has(position: number): boolean {
    return this.ready.has(position);
  }

  put(time: number | undefined, priority = 0): void {
    const own = { priority, ...(time !== undefined && { timestamp: BigInt(time) }) };
    this.ready.push(new Entry(new Message('', 'q', own, new Uint8Array()), ++this.#position, 0));
  }

  take(): void {
    const entry = this.ready.shift();
    if (entry !== undefined) this.taken.push(entry);
  }

  giveBack(at: number): void {
    const [entry] = this.taken.splice(at % Math.max(1, this.taken.length), 1);
    if (entry === undefined) return;
    entry.returns++;
    if (this.to === 'back') entry.position = ++this.#position;
    this.ready.giveBack(entry, this.to);
  }

  withdraw(at: number): void {
    const entry = this.all().at(at % Math.max(1, this.length));
    if (entry !== undefined) this.ready.take(entry.position);
  }

  all(): readonly Entry[] {
    const all: Entry[] = [];
    this.ready.each((entry) => void all.push(entry));
    return all;
  }

  /** The least time, as a look at every message finds it. */
  least(): number | undefined {
    const times = this.all().map(({ message }) => timeOf(message) ?? Infinity);
    const least = Math.min(...times);
    return least === Infinity ? undefined : least;
  }
}

function run(work: Generator<void, Oldest, void>, between?: () => void): Oldest {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    between?.();
  }
}

const look = (oldest: OldestMessages, shelf: Shelf, left = Infinity): Oldest =>
  run(oldest.find(shelf, timeOf, { left }));

const lists: readonly (readonly [string, () => Ready, ReturnTo])[] = [
  ['a classic queue', () => new ReadyList(), 'original'],
  ['a quorum queue', () => new ReadyList(), 'back'],
  ['a quorum queue with a delivery limit', () => new ReadyList(), 'front'],
  ['a priority queue', () => new PriorityList(3), 'original'],
  ['a quorum queue of RabbitMQ 4', () => new QuorumList(), 'front'],
];

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('put' as const), at: fc.nat(3), time: fc.option(fc.nat(50), { nil: undefined }) }),
    fc.record({ do: fc.constantFrom('take', 'giveBack', 'withdraw', 'clear', 'look', 'look'), at: fc.nat(1_000) }),
  ),
  { maxLength: 150 },
);

describe('the oldest message of a queue', () => {
  it.each(lists)('is the oldest of all, whatever came, went and came back: %s', (_, list, to) => {
    fc.assert(
      fc.property(steps, (program) => {
        const shelf = new Shelf(list(), to);
        const oldest = new OldestMessages();
        for (const step of program) {
          if (step.do === 'put') for (let n = 0; n < 40; n++) shelf.put(step.time && step.time + (n % 7), step.at);
          else if (step.do === 'take') for (let n = 0; n < step.at % 100; n++) shelf.take();
          else if (step.do === 'giveBack') for (let n = 0; n < 30; n++) shelf.giveBack(step.at + n);
          else if (step.do === 'withdraw') for (let n = 0; n < 20; n++) shelf.withdraw(step.at * n);
          else if (step.do === 'clear') {
            if (step.at % 10 === 0) shelf.ready.clear();
          } else expect(look(oldest, shelf)).toEqual({ time: shelf.least(), isPart: false });
        }
        expect(look(oldest, shelf)).toEqual({ time: shelf.least(), isPart: false });
      }),
      { numRuns: 60 },
    );
  });

  it('is right again when messages came and went in the pauses of a look, and of two looks at once', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { maxLength: 60 }), (changes) => {
        const shelf = new Shelf(new ReadyList());
        const oldest = new OldestMessages();
        for (let n = 0; n < 3_000; n++) shelf.put(5_000 - n);
        const other = oldest.find(shelf, timeOf, { left: Infinity });
        const left = [...changes];
        run(oldest.find(shelf, timeOf, { left: Infinity }), () => {
          other.next();
          const change = left.pop() ?? 7;
          if (change % 3 === 0) for (let n = 0; n < 90; n++) shelf.take();
          else if (change % 3 === 1) for (let n = 0; n < 90; n++) shelf.giveBack(n);
          else shelf.withdraw(change);
          shelf.put(change);
        });
        expect(look(oldest, shelf).time).toBe(shelf.least());
      }),
      { numRuns: 30 },
    );
  });

  it('is found with little more than a look at what came since, and with a look at a block when it left', () => {
    const shelf = new Shelf(new ReadyList());
    const oldest = new OldestMessages();
    for (let n = 0; n < 50_000; n++) shelf.put(100_000 - n);
    const lookedAt = (): number => {
      const before = shelf.looked;
      expect(look(oldest, shelf).time).toBe(shelf.least());
      return shelf.looked - before;
    };
    expect(lookedAt()).toBeLessThan(50_100);
    expect(lookedAt()).toBeLessThan(5);
    for (let n = 0; n < 100; n++) shelf.put(200_000 + n);
    expect(lookedAt()).toBeLessThan(105);
    for (let n = 0; n < 10; n++) {
      shelf.ready.take(
        shelf.all().reduce((one, next) => (timeOf(next.message)! < timeOf(one.message)! ? next : one)).position,
      );
      expect(lookedAt()).toBeLessThan(1_100);
    }
    for (let n = 0; n < 40_000; n++) shelf.take();
    expect(lookedAt()).toBeLessThan(5);
  });

  it('goes on after its budget, and says until then that it has seen a part', () => {
    const shelf = new Shelf(new ReadyList());
    const oldest = new OldestMessages();
    for (let n = 0; n < 1_000; n++) shelf.put(1_000 - n);
    expect(look(oldest, shelf, 300)).toEqual({ time: 701, isPart: true });
    expect(look(oldest, shelf, 300)).toEqual({ time: 401, isPart: true });
    expect(look(oldest, shelf, 300)).toEqual({ time: 101, isPart: true });
    expect(look(oldest, shelf, 300)).toEqual({ time: 1, isPart: false });
    // What came back is looked at each time.
    for (let n = 0; n < 1_000; n++) shelf.take();
    for (let n = 0; n < 1_000; n++) shelf.giveBack(0);
    expect(look(oldest, shelf, 300)).toEqual({ time: 701, isPart: true });
    expect(look(oldest, shelf)).toEqual({ time: 1, isPart: false });
  });

  it('remembers no more than the messages need, while one stays and very many come and go behind it', () => {
    const shelf = new Shelf(new ReadyList());
    const oldest = new OldestMessages();
    shelf.put(undefined);
    shelf.put(1);
    for (let round = 0; round < 300; round++) {
      for (let n = 0; n < 1_024; n++) shelf.put(1_000 + round);
      expect(look(oldest, shelf).time).toBe(1);
      for (const entry of shelf.all().slice(2)) shelf.ready.take(entry.position);
    }
    shelf.ready.take(shelf.all()[1]!.position);
    shelf.put(9_999);
    // Every block that is remembered has a time before this one, so that all of them are looked at again.
    const before = shelf.browses;
    expect(look(oldest, shelf).time).toBe(9_999);
    expect(shelf.browses - before).toBeLessThan(100);
  });
});
