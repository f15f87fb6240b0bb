import type { Random } from '../fuzz/random.js';
import { FrameDescriber } from './describe-frames.js';
import { FrameEnds, greeting } from './frame-ends.js';
import type { World } from './world.js';

/** How a connection treats its bytes. Times are milliseconds. */
export interface Conditions {
  /** The shortest and the longest way of bytes from end to end. */
  readonly latency: readonly [number, number];
  /** The share of writes that arrive in pieces. */
  readonly split: number;
  /** Bytes that may be on their way before the writer has to wait. */
  readonly room: number;
}

/** The receiving end of a direction. */
export interface Receiver {
  /** @returns false if it takes no more until {@link Direction.resume} */
  received(bytes: Buffer): boolean;
  /** The writer has ended its output, and everything before it has arrived. */
  ended(): void;
  /** Nothing that the writer sent waits any longer. */
  drained(): void;
  /** The connection breaks here. */
  broken(): void;
}

/** One step on the way: bytes, the end of the output, or the place at which the connection breaks. */
interface Step {
  readonly at: number;
  readonly what: Buffer | 'end' | 'cut';
}

/** One direction of a connection: bytes arrive in order, after some time, in whatever pieces. */
export class Direction {
  /** The writer's bytes are lost on their way, and neither end sees it. */
  isSwallowing = false;
  /** The connection is over. */
  isOver = false;
  /** Whole frames that were sent. */
  frames = 0;
  /** Slow: so many bytes at a time, and the pause between two pieces. */
  drip: { readonly bytes: number; readonly pause: number } | undefined;
  #onTheWay: Step[] = [];
  #bytes = 0;
  #wasFull = false;
  #isHeld = false;
  #last = 0;
  readonly #ends: FrameEnds;
  readonly #describer: FrameDescriber;
  /** The connection breaks after so many further frames, and then so many bytes. */
  #cut: { frames: number; bytes: number } | undefined;
  #isCut = false;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly conditions: Conditions,
    private readonly name: string,
    isClients: boolean,
    private readonly to: Receiver,
  ) {
    this.#ends = new FrameEnds(isClients);
    this.#describer = new FrameDescriber(isClients ? greeting : 0);
  }

  /** Bytes beyond the room on the way. */
  get waiting(): number {
    return Math.max(0, this.#bytes - this.conditions.room);
  }

  /** @param taken called when there is room for further bytes */
  send(bytes: Buffer, taken: () => void = () => undefined): void {
    if (this.isOver || this.isSwallowing || this.#isCut) return taken();
    const ends = this.#ends.scan(bytes);
    const end = this.#cutIn(bytes, ends);
    this.frames += ends.length;
    this.#split(end === undefined ? bytes : bytes.subarray(0, end));
    if (end !== undefined) {
      this.#isCut = true;
      this.#push('cut', 0);
    }
    this.#wasFull ||= this.waiting > 0;
    if (this.waiting > 0) this.#waiting.push(taken);
    else taken();
  }

  /** The writer ends its output. */
  finish(): void {
    if (!this.isOver && !this.isSwallowing && !this.#isCut) this.#push('end', 0);
  }

  /** The receiver takes bytes again. */
  resume(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#wake();
  }

  /** Nothing arrives for so many milliseconds. */
  stall(milliseconds: number): void {
    this.#last = Math.max(this.#last, this.world.clock.now() + milliseconds);
  }

  /** Breaks the connection after so many further frames, and so many bytes of the next one. */
  cutAfter(frames: number, bytes: number): void {
    this.#cut = { frames, bytes };
  }

  /** The connection is over. @param delivers whether what is on its way still arrives */
  over(delivers: boolean): void {
    if (this.isOver) return;
    if (delivers && !this.isSwallowing) {
      for (const { what } of this.#onTheWay) if (typeof what !== 'string') this.to.received(what);
    }
    this.isOver = true;
    this.#onTheWay = [];
    this.#bytes = 0;
    for (const taken of this.#waiting.splice(0)) taken();
    this.world.clock.wakeAt(undefined, this.#arrive);
  }

  /** @returns the position in these bytes at which the connection breaks */
  #cutIn(bytes: Buffer, ends: readonly number[]): number | undefined {
    const cut = this.#cut;
    if (cut === undefined) return undefined;
    let from = 0;
    if (cut.frames > 0) {
      const end = ends[cut.frames - 1];
      cut.frames = Math.max(0, cut.frames - ends.length);
      if (end === undefined) return undefined;
      from = end;
    }
    const left = bytes.length - from;
    if (cut.bytes > left) {
      cut.bytes -= left;
      return undefined;
    }
    return from + cut.bytes;
  }

  #split(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const { drip, random } = this;
    if (drip !== undefined) {
      const size = Math.max(drip.bytes, Math.ceil(bytes.length / 64));
      for (let at = 0; at < bytes.length; at += size) this.#push(bytes.subarray(at, at + size), drip.pause);
    } else if (bytes.length > 1 && random.chance(this.conditions.split)) {
      const at = random.integer(1, bytes.length - 1);
      this.#push(bytes.subarray(0, at), 0);
      this.#push(bytes.subarray(at), 0);
    } else this.#push(bytes, 0);
  }

  #push(what: Step['what'], pause: number): void {
    const at = Math.max(this.world.clock.now() + this.random.integer(...this.conditions.latency), this.#last + pause);
    this.#last = at;
    if (typeof what !== 'string') this.#bytes += what.length;
    this.#onTheWay.push({ at, what });
    if (this.#onTheWay.length === 1) this.#wake();
  }

  #wake(): void {
    const next = this.#onTheWay[0];
    if (next !== undefined && !this.#isHeld) this.world.clock.wakeAt(next.at, this.#arrive);
  }

  readonly #arrive = (): void => {
    const step = this.#onTheWay.shift();
    if (step === undefined || this.isOver) return;
    const { what } = step;
    if (what === 'end') {
      this.world.note(`${this.name} end`);
      this.to.ended();
    } else if (what === 'cut') {
      this.world.note(`${this.name} cut`);
      this.to.broken();
    } else {
      const { trace } = this.world;
      this.world.note(`${this.name} ${what.length} ${trace.bytes(what)}`);
      if (trace.keeps) trace.remark(`    ${this.#describer.describe(what)}`);
      this.#bytes -= what.length;
      if (!this.isSwallowing && !this.to.received(what)) this.#isHeld = true;
      this.#makeRoom();
    }
    this.#wake();
  };

  #makeRoom(): void {
    if (this.waiting > 0) return;
    for (const taken of this.#waiting.splice(0)) taken();
    if (!this.#wasFull || this.#bytes > 0) return;
    this.#wasFull = false;
    this.to.drained();
  }
}
