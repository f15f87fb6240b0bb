import { setTimeout as wait } from 'node:timers/promises';
import { type FieldTable, isEmptyTable } from '../../message/index.js';
import { MoveFailure, type Moving, type Source, type Taken, type Target, defaultWindow } from './ends.js';

export interface MoveOptions {
  /** Messages at most; default all. */
  readonly limit?: number;
  /** Messages a second at most; default as many as go. */
  readonly rate?: number;
  /** Removes the history of deaths from the headers. */
  readonly stripDeaths?: boolean;
  /** Messages that were taken and not yet acked, at most. Default {@link defaultWindow}. */
  readonly window?: number;
  /** Milliseconds for which a message is offered again to a queue that refuses it. Default 30,000. */
  readonly timeout?: number;
}

/** The result of a move. */
export interface Outcome {
  /** Messages that are in the target and gone from the source. */
  readonly moved: number;
  /** Moved messages that had been delivered before: an earlier move may have left them in the target, too. */
  readonly repeated: readonly string[];
  /** Messages that are in the source, and perhaps in the target, too. */
  readonly inDoubt: readonly string[];
  /** Why it ended before the source was empty or the limit reached. */
  readonly failure: MoveFailure | undefined;
}

/** Milliseconds between offers of a message that is refused. */
const [firstPause, longestPause] = [50, 1_000];

/** Headers with deaths and returns. Brokers write them, and trust them in a published message. */
const ofDeaths = /^x-(death|delivery-count|(first|last)-death-(queue|exchange|reason))$/;

/**
 * Moves messages from one queue to another. A message is acked only after the target confirmed it, so it is in one of the
 * queues at any time; if the process ends in between, it may be in both.
 */
export class Mover {
  readonly #window: number;
  #moved = 0;
  #repeated: string[] = [];
  #inDoubt: string[] = [];
  #failure: MoveFailure | undefined;
  /** Errors that are no {@link MoveFailure}. */
  readonly #faults: unknown[] = [];
  #isStopped = false;
  /** The time of the next message, in milliseconds of a monotonic clock. */
  #nextAt = 0;

  constructor(
    private readonly source: Source,
    private readonly target: Target,
    private readonly options: MoveOptions = {},
  ) {
    this.#window = options.window ?? defaultWindow;
  }

  get moved(): number {
    return this.#moved;
  }

  /** Takes no more messages; those on their way arrive. */
  stop(): void {
    this.#isStopped = true;
  }

  /** @throws the first error that is no {@link MoveFailure}, when nothing is under way any more */
  async run(): Promise<Outcome> {
    const { limit = Infinity } = this.options;
    const underWay = new Set<Promise<void>>();
    for (let taken = 0; taken < limit; taken += 1) {
      await this.#turn();
      while (underWay.size >= this.#window) await Promise.race(underWay);
      if (this.#isStopped) break;
      const message = await this.#next();
      if (message === undefined) break;
      const move = this.#move(message, taken + 1).finally(() => underWay.delete(move));
      underWay.add(move);
    }
    await Promise.all(underWay);
    if (this.#faults.length > 0) throw this.#faults[0];
    return { moved: this.#moved, repeated: this.#repeated, inDoubt: this.#inDoubt, failure: this.#failure };
  }

  async #next(): Promise<Taken | undefined> {
    try {
      return await this.source.next();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Waits until the rate allows the next message. */
  async #turn(): Promise<void> {
    const { rate } = this.options;
    if (rate === undefined) return;
    const now = performance.now();
    const at = Math.max(this.#nextAt, now);
    this.#nextAt = at + 1_000 / rate;
    if (at > now) await wait(at - now);
  }

  /** @param number counts the messages of this move */
  async #move(taken: Taken, number: number): Promise<void> {
    const message = this.options.stripDeaths === true ? withoutDeaths(taken) : taken;
    try {
      await this.#publish(message);
    } catch (error) {
      // Later messages may arrive before it. The order is then lost, but no message.
      taken.giveBack();
      if (error instanceof MoveFailure && error.kind === 'lost') this.#inDoubt.push(nameOf(taken, number));
      this.#fail(error);
      return;
    }
    try {
      await taken.ack();
    } catch (error) {
      this.#inDoubt.push(nameOf(taken, number));
      this.#fail(error);
      return;
    }
    this.#moved += 1;
    if (taken.redelivered) this.#repeated.push(nameOf(taken, number));
  }

  /** Publishes a message, and again while the target refuses it, up to the option `timeout`. @throws MoveFailure */
  async #publish(message: Moving): Promise<void> {
    const until = performance.now() + (this.options.timeout ?? 30_000);
    for (let pause = firstPause; ; pause = Math.min(longestPause, pause * 2)) {
      try {
        const delay = Math.ceil((message.due ?? 0) - Date.now());
        return await (delay > 0 ? this.target.publishLater(message, delay) : this.target.publish(message));
      } catch (error) {
        const isRefused = error instanceof MoveFailure && error.kind === 'refused';
        if (!isRefused || this.#isStopped || performance.now() + pause > until) throw error;
      }
      await wait(pause);
    }
  }

  /** Ends the move. A move of one message must not reject: `run` may wait for the source then, and not for it. */
  #fail(error: unknown): void {
    this.#isStopped = true;
    if (error instanceof MoveFailure) this.#failure ??= error;
    else this.#faults.push(error);
  }
}

function withoutDeaths(taken: Taken): Moving {
  const { properties } = taken;
  const { headers } = properties;
  if (headers === undefined || ![...headers.keys()].some((name) => ofDeaths.test(name))) return taken;
  const kept: FieldTable = new Map([...headers].filter(([name]) => !ofDeaths.test(name)));
  const { headers: _headers, ...rest } = properties;
  return { ...taken, properties: isEmptyTable(kept) ? rest : { ...rest, headers: kept } };
}

/** The name of a message in the report: its id, or else its number, routing key and size. */
function nameOf({ properties: { messageId }, routingKey, body }: Taken, number: number): string {
  if (messageId !== undefined) return `message '${messageId}'`;
  return `message ${number} of this move, without an id (routing key '${routingKey}', ${body.length} bytes)`;
}
