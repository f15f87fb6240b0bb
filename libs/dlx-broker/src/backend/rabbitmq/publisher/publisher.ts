import type { Clock } from '../../../broker/index.js';
import { after } from '../../../host/index.js';
import type { Done, Publication } from '../../backend.js';
import {
  ConnectionLostError,
  OverloadedError,
  RefusedError,
  ServerError,
  UnconfirmedError,
  UnroutableError,
} from '../../errors.js';
import type { AmqpConnection } from '../client/api.js';
import type { openPublisher } from '../client/publisher.js';
import {
  ChannelClosedError,
  type ClientError,
  type ConnectError,
  ConnectionLostError as ConnectionEnd,
  NackedError,
  ReturnedError,
} from '../client/errors.js';
import { guiltyOf, isOurFault } from './guilt.js';
import { Lane } from './lane.js';
import { Outgoing, overhead, WaitingLine } from './outgoing.js';

/** How much a publisher holds, and for how long. All times in milliseconds. */
export interface PublisherLimits {
  /** Unconfirmed publishes at most; more wait here. */
  readonly window: number;
  /** Messages that are not confirmed yet, waiting or sent, at most. */
  readonly messages: number;
  /** Their bytes at most. One message is taken in any case. */
  readonly bytes: number;
  /** From the publish until it fails at the latest. */
  readonly timeout: number;
  /** How long a refused message (nack) is published again. */
  readonly refusedFor: number;
}

/** What a publisher is lent. */
export interface PublisherHost {
  readonly clock: Clock;
  /** 0 up to but not including 1. */
  readonly random: () => number;
  readonly open: typeof openPublisher;
  /** A callback threw. */
  readonly fault: (error: unknown) => void;
}

/** The shortest and the longest pause before a refused message is published again. */
const pauses = { first: 50, longest: 1_000 } as const;

/** A channel that refuses a message for so long is replaced: one that was opened while a leader was down may never recover. */
const replaceAfter = 1_000;

/** The longest time between two replacements for refusals; it begins with `replaceAfter` and doubles. */
const longestReplacement = 16_000;

/** Deadlines are looked at so often. */
const longestLook = 1_000;

/**
 * Publishes with confirms on one channel, over all connections of a backend. A publish that is not confirmed is sent again
 * as the table in docs/decisions/0140 says, and fails at its deadline; none is forgotten.
 */
export class Publisher {
  readonly #waiting = new WaitingLine();
  /** Sent one at a time, because one of them made the server close a channel. */
  readonly #suspects = new WaitingLine();
  /** All that is not over, in the order of their deadlines. */
  readonly #live = new Set<Outgoing>();
  readonly #lanes = new Set<Lane>();
  #bytes = 0;
  #lane: Lane | undefined;
  #connection: AmqpConnection | undefined;
  #isBlocked = false;
  #isPumping = false;
  /** A suspect is on its way, alone. */
  #isProbing = false;
  #isClosed = false;
  /** Why nothing is sent at present. */
  #trouble = 'the connection is not open yet';
  #replacePause = replaceAfter;
  #replacedAt = -Infinity;
  #isLooking = false;
  #idle: (() => void) | undefined;

  constructor(
    private readonly host: PublisherHost,
    private readonly limits: PublisherLimits,
  ) {}

  /** Publishes that are neither confirmed nor failed. */
  get outstanding(): number {
    return this.#live.size;
  }

  publish(publication: Publication, done?: Done): void {
    if (this.#isClosed) return done?.(new ConnectionLostError('the connection was closed by this application', false));
    const size = publication.body.length + overhead;
    const isFull = this.#live.size >= this.limits.messages || this.#bytes + size > this.limits.bytes;
    if (isFull && this.#live.size > 0) return done?.(this.#full());
    const outgoing = new Outgoing(publication, done, this.host.clock.now() + this.limits.timeout, size);
    this.#live.add(outgoing);
    this.#bytes += size;
    this.#lookSoon();
    if (this.#maySend() && this.#waiting.isEmpty) this.#send(outgoing);
    else this.#waiting.push(outgoing);
  }

  /** A connection is open: what waits is sent. */
  attach(connection: AmqpConnection): void {
    this.#connection = connection;
    this.#isBlocked = connection.isBlocked;
    this.#openLane();
  }

  /** The connection is gone. What was unconfirmed waits for the next one. @param trouble for errors */
  detach(trouble: string): void {
    this.#connection = undefined;
    this.#isBlocked = false;
    this.#trouble = trouble;
  }

  /** The server takes no publishes at present. @param reason undefined: it takes them again */
  blocked(reason: string | undefined): void {
    this.#isBlocked = reason !== undefined;
    if (reason !== undefined) this.#trouble = `the server blocks publishers: ${reason}`;
    this.pump();
  }

  /** Sends what waits, as far as it may be sent. Also to be called when a congested connection has room again. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#maySend()) {
        const suspect = this.#suspects.take();
        const next = suspect ?? this.#waiting.take();
        if (next === undefined) break;
        this.#isProbing = suspect !== undefined;
        this.#send(next);
      }
    } finally {
      this.#isPumping = false;
    }
  }

  /**
   * Takes no more publishes, and waits for the confirms of those it has. Those left after the limit fail.
   * @param limit milliseconds
   */
  async close(limit: number): Promise<void> {
    this.#isClosed = true;
    if (this.#live.size > 0) {
      await new Promise<void>((resolve) => {
        const callOff = after(this.host.clock, limit, resolve);
        this.#idle = () => {
          callOff();
          resolve();
        };
      });
    }
    for (const outgoing of this.#live) this.#finish(outgoing, this.#late(outgoing, 'before the connection was closed'));
  }

  /** While there are suspects, one message is on its way at a time. */
  #maySend(): boolean {
    const lane = this.#lane;
    if (lane === undefined || this.#isBlocked || this.#connection?.isCongested !== false) return false;
    if (this.#isProbing && lane.publisher.outstanding > 0) return false;
    this.#isProbing = false;
    return lane.publisher.outstanding < (this.#suspects.isEmpty ? this.limits.window : 1);
  }

  #send(outgoing: Outgoing): void {
    const lane = this.#lane as Lane;
    const { exchange, routingKey, properties, body, mandatory = false, dropped } = outgoing.publication;
    outgoing.mayBeTaken = true;
    lane.publisher.publish(exchange, routingKey, properties, body, mandatory || dropped !== undefined, (failure) =>
      this.#answered(outgoing, lane, failure),
    );
  }

  #answered(outgoing: Outgoing, lane: Lane, failure: ClientError | undefined): void {
    if (failure instanceof ChannelClosedError || failure instanceof ConnectionEnd) {
      // Decided when the channel has ended; on one that has ended already it was never sent.
      if (this.#lanes.has(lane)) lane.doubtful.push(outgoing);
      else if (!outgoing.isOver) this.#waiting.putFirst([outgoing]);
      return;
    }
    lane.confirms++;
    if (!outgoing.isOver) this.#decide(outgoing, lane, failure);
    if (lane.isRetired && lane.publisher.outstanding === 0) lane.publisher.close();
    this.pump();
  }

  #decide(outgoing: Outgoing, lane: Lane, failure: ClientError | undefined): void {
    const { exchange, routingKey, mandatory = false, dropped } = outgoing.publication;
    if (failure === undefined) {
      lane.refusingSince = undefined;
      this.#finish(outgoing, undefined);
    } else if (failure instanceof NackedError) {
      this.#refused(outgoing, lane);
    } else if (failure instanceof ReturnedError) {
      lane.refusingSince = undefined;
      if (!mandatory) this.#guarded(() => dropped?.(outgoing.publication));
      this.#finish(outgoing, mandatory ? new UnroutableError(exchange, routingKey) : undefined);
    } else {
      const cannot = `a message to exchange '${exchange}' with routing key '${routingKey}' cannot be sent`;
      this.#finish(outgoing, new ServerError(`${cannot}: ${failure.message}`, 0, { cause: failure }));
    }
  }

  /** A queue is full or has no leader: which of them, the server does not tell. */
  #refused(outgoing: Outgoing, lane: Lane): void {
    const now = this.host.clock.now();
    if (outgoing.nacks === 0) outgoing.nackedSince = now;
    if (now - outgoing.nackedSince >= this.limits.refusedFor) {
      const { exchange, routingKey } = outgoing.publication;
      return this.#finish(outgoing, new RefusedError(exchange, routingKey));
    }
    lane.refusingSince ??= now;
    if (lane === this.#lane && now - lane.refusingSince >= replaceAfter) this.#replace(lane, now);
    const pause = Math.min(pauses.longest, pauses.first * 2 ** Math.min(outgoing.nacks++, 10));
    const spread = Math.ceil(pause * (0.5 + this.host.random() / 2));
    after(this.host.clock, spread, () => {
      if (outgoing.isOver) return;
      this.#waiting.putFirst([outgoing]);
      this.pump();
    });
  }

  /** What is on its way on the old channel stays there until it is confirmed. */
  #replace(lane: Lane, now: number): void {
    if (now - this.#replacedAt > 2 * longestReplacement) this.#replacePause = replaceAfter;
    if (now - this.#replacedAt < this.#replacePause) return;
    this.#replacedAt = now;
    this.#replacePause = Math.min(longestReplacement, this.#replacePause * 2);
    this.#retire(lane);
    if (lane.publisher.outstanding === 0) lane.publisher.close();
  }

  #retire(lane: Lane): void {
    lane.isRetired = true;
    if (lane === this.#lane) this.#openLane();
  }

  #openLane(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    const publisher = this.host.open(connection, { closed: (failure) => this.#ended(lane, failure) });
    const lane = new Lane(publisher, this.host.clock.now());
    this.#lane = lane;
    this.#lanes.add(lane);
    this.pump();
  }

  /** All publishes of this channel are in doubt, or guilty of its end. */
  #ended(lane: Lane, failure: ClientError | ConnectError | undefined): void {
    this.#lanes.delete(lane);
    const doubtful = lane.doubtful.splice(0).filter(({ isOver }) => !isOver);
    const wasCurrent = lane === this.#lane;
    if (wasCurrent) this.#lane = undefined;
    const isChannelsOwn = failure instanceof ChannelClosedError && failure.code !== 200;
    const isAccused = isChannelsOwn || (failure instanceof ConnectionEnd && isOurFault(failure.code));
    const guilty = isChannelsOwn ? guiltyOf(failure, doubtful) : isAccused && doubtful.length === 1 ? doubtful : [];
    for (const outgoing of guilty)
      this.#finish(outgoing, refusedBy(failure as ChannelClosedError | ConnectionEnd, outgoing));
    const innocent = guilty.length === 0 ? doubtful : doubtful.filter((outgoing) => !outgoing.isOver);
    // A suspect that the network cut off is still one.
    const areSuspect = guilty.length === 0 && (isAccused || (wasCurrent && this.#isProbing));
    (areSuspect ? this.#suspects : this.#waiting).putFirst(innocent);
    this.#isProbing &&= !wasCurrent;
    if (wasCurrent && this.#connection?.isOpen === true) this.#openLane();
    else this.pump();
  }

  #finish(outgoing: Outgoing, failure: Error | undefined): void {
    outgoing.isOver = true;
    this.#live.delete(outgoing);
    this.#bytes -= outgoing.size;
    if (outgoing.done !== undefined) this.#guarded(() => outgoing.done?.(failure));
    if (this.#live.size === 0) this.#idle?.();
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.host.fault(error);
    }
  }

  #lookSoon(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const pause = Math.max(1, Math.min(longestLook, this.limits.timeout / 4));
    after(this.host.clock, pause, this.#look);
  }

  /** Fails what is late, and replaces a channel whose confirms do not come. */
  readonly #look = (): void => {
    this.#isLooking = false;
    const now = this.host.clock.now();
    for (const outgoing of this.#live) {
      if (outgoing.deadline > now) break;
      this.#finish(outgoing, this.#late(outgoing, `within ${this.limits.timeout} ms`));
    }
    for (const lane of this.#lanes) {
      if (!this.#isStuck(lane, now)) continue;
      this.#retire(lane);
      lane.publisher.close(); // its publishes are sent again on the next one
    }
    if (this.#live.size > 0) this.#lookSoon();
  };

  /** No confirm came for half of the time that a publish has, although some are due: the next channel may do better. */
  #isStuck(lane: Lane, now: number): boolean {
    if (lane.confirms !== lane.seen || lane.publisher.outstanding === 0 || this.#isBlocked) {
      lane.seen = lane.confirms;
      lane.movedAt = now;
    }
    return now - lane.movedAt >= this.limits.timeout / 2;
  }

  #late(outgoing: Outgoing, when: string): Error {
    const { exchange, routingKey } = outgoing.publication;
    const what = `a message to exchange '${exchange}' with routing key '${routingKey}' was not`;
    if (outgoing.nacks > 0) return new RefusedError(exchange, routingKey);
    if (outgoing.mayBeTaken)
      return new UnconfirmedError(`${what} confirmed ${when}; whether a queue has it is unknown`);
    return new OverloadedError(`${what} sent ${when}: ${this.#whyNot()}`);
  }

  #full(): OverloadedError {
    const { messages, bytes } = this.limits;
    const held = `${this.#live.size} messages of ${this.#bytes} bytes are not confirmed yet`;
    const bound = `at most ${messages} messages of ${bytes} bytes are held (option 'publishBuffer')`;
    return new OverloadedError(`${held}, and ${bound}: ${this.#whyNot()}`);
  }

  #whyNot(): string {
    const isFlowing = this.#lane !== undefined && !this.#isBlocked;
    return isFlowing ? 'messages are published faster than the server takes them' : this.#trouble;
  }
}

function refusedBy(failure: ChannelClosedError | ConnectionEnd, { publication }: Outgoing): ServerError {
  const { exchange, routingKey } = publication;
  const text = failure instanceof ChannelClosedError ? failure.text : failure.message;
  const what = `the server refused a message to exchange '${exchange}' with routing key '${routingKey}'`;
  return new ServerError(`${what}: ${text}`, failure.code ?? 0, { cause: failure });
}
