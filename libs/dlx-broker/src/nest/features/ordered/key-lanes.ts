import { Deque } from '../../../engine/broker/index.js';

/** The key of a message as text; undefined for a message without an order. */
export type LaneKey = string | undefined;

/** A message in a lane. */
export interface LaneItem {
  /** True when it has returned to its queue: then it is not started. */
  readonly isGone: boolean;
  /** Begins to work. It never throws. */
  start(): void;
}

/** The messages of one key that are in hand, in the order of their queue. */
export class Lane<Item extends LaneItem = LaneItem> {
  readonly items = new Deque<Item>();
  /** `held`: its first message waits for another attempt. `over`: it is empty. */
  state: 'ready' | 'at work' | 'held' | 'over' = 'over';

  constructor(readonly key: LaneKey) {}
}

/**
 * Says which message in hand begins next: one at a time within a key, in order, and keys side by side up to a limit. It knows neither
 * brokers nor time. What it keeps is bounded by the number of messages that enter.
 */
export class KeyLanes<Item extends LaneItem> {
  /** The lanes of keys. A message without a key has a lane of its own, which is only in `#all`. */
  readonly #byKey = new Map<string, Lane<Item>>();
  readonly #all = new Set<Lane<Item>>();
  readonly #ready = new Deque<Lane<Item>>();
  #readyCount = 0;
  #atWork = 0;
  #held = 0;
  #inHand = 0;
  #isStopped = false;
  #isStarting = false;
  /** Called when nothing is at work any more. */
  readonly #waiting: (() => void)[] = [];

  /** @param limit the most messages at work */
  constructor(public limit: number) {}

  /** Keys with messages in hand. */
  get count(): number {
    return this.#all.size;
  }

  get atWork(): number {
    return this.#atWork;
  }

  /** Lanes that could start a message. */
  get ready(): number {
    return this.#readyCount;
  }

  /** Messages that wait for another attempt. */
  get held(): number {
    return this.#held;
  }

  /** All messages: at work, held, and behind those. */
  get inHand(): number {
    return this.#inHand;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get lanes(): Iterable<Lane<Item>> {
    return this.#all;
  }

  /** Puts a message at the end of the lane of its key. @returns the lane */
  enter(item: Item, key: LaneKey): Lane<Item> {
    let lane = key === undefined ? undefined : this.#byKey.get(key);
    if (lane === undefined) {
      lane = new Lane<Item>(key);
      this.#all.add(lane);
      if (key !== undefined) this.#byKey.set(key, lane);
    }
    lane.items.push(item);
    this.#inHand++;
    if (lane.state === 'over') this.#makeReady(lane);
    return lane;
  }

  /** The message at work in a lane is settled: the next one may begin. */
  leave(lane: Lane<Item>): void {
    lane.items.shift();
    this.#inHand--;
    this.#goOn(lane);
    this.#rest();
    this.start();
  }

  /** The message at work in a lane waits for another attempt, and holds up its lane. */
  hold(lane: Lane<Item>): void {
    lane.state = 'held';
    this.#held++;
    this.#rest();
    this.start();
  }

  /** The wait of a lane is over. */
  wake(lane: Lane<Item>): void {
    if (lane.state !== 'held') return;
    this.#held--;
    this.#goOn(lane);
    this.start();
  }

  /** Starts what may begin. A message that ends meanwhile does not start the next one in its own call stack. */
  start(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      while (!this.#isStopped && this.#atWork < this.limit && this.#ready.length > 0) {
        const lane = this.#ready.shift();
        if (lane?.state !== 'ready') continue; // it was emptied meanwhile
        this.#readyCount--;
        this.#dropGone(lane);
        const item = lane.items.first();
        if (item === undefined) {
          this.#remove(lane);
          continue;
        }
        lane.state = 'at work';
        this.#atWork++;
        item.start();
      }
    } finally {
      this.#isStarting = false;
    }
  }

  /** Starts nothing any more, until {@link resume}. What is at work goes on. */
  stop(): void {
    this.#isStopped = true;
  }

  resume(): void {
    this.#isStopped = false;
    this.start();
  }

  /** Resolves when nothing is at work. */
  async idle(): Promise<void> {
    if (this.#atWork > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Drops the messages that have returned to their queue, except those at work. */
  sweep(): void {
    for (const lane of this.#all) {
      const working = lane.state === 'at work' ? lane.items.first() : undefined;
      const { length } = lane.items;
      const wasHeld = lane.state === 'held' && lane.items.first()?.isGone === true;
      lane.items.filter((item) => item === working || !item.isGone);
      this.#inHand -= length - lane.items.length;
      if (wasHeld) {
        this.#held--;
        this.#goOn(lane);
      } else if (lane.items.length === 0 && lane.state === 'ready') {
        this.#readyCount--;
        this.#remove(lane);
      }
    }
    this.start();
  }

  #goOn(lane: Lane<Item>): void {
    if (lane.items.length === 0) this.#remove(lane);
    else this.#makeReady(lane);
  }

  #makeReady(lane: Lane<Item>): void {
    lane.state = 'ready';
    this.#readyCount++;
    this.#ready.push(lane);
  }

  #dropGone(lane: Lane<Item>): void {
    while (lane.items.first()?.isGone === true) {
      lane.items.shift();
      this.#inHand--;
    }
  }

  #remove(lane: Lane<Item>): void {
    lane.state = 'over';
    this.#all.delete(lane);
    if (lane.key !== undefined) this.#byKey.delete(lane.key);
  }

  #rest(): void {
    if (--this.#atWork > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
