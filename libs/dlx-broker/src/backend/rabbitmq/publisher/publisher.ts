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
  type ConnectionFailedError,
  ConnectionClosedError,
  NackedError,
  ReturnedError,
} from '../client/errors.js';
import { closingPublishes, isCausedByPublish } from './closing-publishes.js';
import { PublishChannel } from './publish-channel.js';
import { Outgoing, overhead, WaitingLine } from './outgoing.js';

/** The limits of a publisher. All times are milliseconds. */
export interface PublisherLimits {
  /** The most publishes that are sent and unconfirmed. Further ones wait. */
  readonly window: number;
  /** The most messages that are not confirmed, waiting or sent. */
  readonly messages: number;
  /** The most bytes of these messages. A single message may be larger. */
  readonly bytes: number;
  /** The time after which an unconfirmed publish fails. */
  readonly timeout: number;
  /** How long a refused message (nack) is published again. */
  readonly refusedFor: number;
}

/** What a publisher gets from its backend. */
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

/**
 * Milliseconds of nacks after which a channel is replaced. A channel that was opened while the leader of a queue was down may never
 * recover.
 */
const replaceAfter = 1_000;

/** The longest pause between two replacements for nacks, in milliseconds. The pause begins with `replaceAfter` and doubles. */
const longestReplacement = 16_000;

/** The longest pause between two checks of deadlines, in milliseconds. */
const longestLook = 1_000;

/**
 * Publishes with confirms on one channel, over all connections of a backend. A publish that is not confirmed is sent again
 * as the table in docs/decisions/0140 says, and fails at its deadline; none is forgotten.
 */
export class Publisher {
  readonly #waiting = new WaitingLine();
  /** Publishes of which one made the server close a channel. They are sent one at a time, to find it. */
  readonly #suspects = new WaitingLine();
  /** All publishes that are neither confirmed nor failed, in the order of their deadlines. */
  readonly #live = new Set<Outgoing>();
  readonly #channels = new Set<PublishChannel>();
  #bytes = 0;
  #channel: PublishChannel | undefined;
  #connection: AmqpConnection | undefined;
  #isBlocked = false;
  #isPumping = false;
  /** True while one of the suspects is unconfirmed. */
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

  /** A connection is open: the waiting publishes are sent. */
  attach(connection: AmqpConnection): void {
    this.#connection = connection;
    this.#isBlocked = connection.isBlocked;
    this.#openChannel();
  }

  /** The connection is gone. Unconfirmed publishes wait for the next one. @param trouble the reason, for errors */
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

  /** Sends waiting publishes, as far as the limits allow. Called also when a congested connection has room again. */
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
   * Refuses further publishes, and waits for the confirms of the others. A publish without a confirm at the limit fails.
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

  /** True if a further message may be sent. While there are suspects, only one message may be unconfirmed. */
  #maySend(): boolean {
    const channel = this.#channel;
    if (channel === undefined || this.#isBlocked || this.#connection?.isCongested !== false) return false;
    if (this.#isProbing && channel.publisher.outstanding > 0) return false;
    this.#isProbing = false;
    return channel.publisher.outstanding < (this.#suspects.isEmpty ? this.limits.window : 1);
  }

  #send(outgoing: Outgoing): void {
    const channel = this.#channel as PublishChannel;
    const { exchange, routingKey, properties, body, mandatory = false, dropped } = outgoing.publication;
    outgoing.mayBeTaken = true;
    channel.publisher.publish(exchange, routingKey, properties, body, mandatory || dropped !== undefined, (failure) =>
      this.#answered(outgoing, channel, failure),
    );
  }

  #answered(outgoing: Outgoing, channel: PublishChannel, failure: ClientError | undefined): void {
    if (failure instanceof ChannelClosedError || failure instanceof ConnectionClosedError) {
      // `#ended` decides about it. On a channel that had ended before, it was never sent.
      if (this.#channels.has(channel)) channel.doubtful.push(outgoing);
      else if (!outgoing.isOver) this.#waiting.putFirst([outgoing]);
      return;
    }
    channel.confirms++;
    if (!outgoing.isOver) this.#decide(outgoing, channel, failure);
    if (channel.isRetired && channel.publisher.outstanding === 0) channel.publisher.close();
    this.pump();
  }

  #decide(outgoing: Outgoing, channel: PublishChannel, failure: ClientError | undefined): void {
    const { exchange, routingKey, mandatory = false, dropped } = outgoing.publication;
    if (failure === undefined) {
      channel.refusingSince = undefined;
      this.#finish(outgoing, undefined);
    } else if (failure instanceof NackedError) {
      this.#refused(outgoing, channel);
    } else if (failure instanceof ReturnedError) {
      channel.refusingSince = undefined;
      if (!mandatory) this.#guarded(() => dropped?.(outgoing.publication));
      this.#finish(outgoing, mandatory ? new UnroutableError(exchange, routingKey) : undefined);
    } else {
      const cannot = `a message to exchange '${exchange}' with routing key '${routingKey}' cannot be sent`;
      this.#finish(outgoing, new ServerError(`${cannot}: ${failure.message}`, 0, { cause: failure }));
    }
  }

  /** Handles a nack: a queue is full or has no leader. The server does not say which. */
  #refused(outgoing: Outgoing, channel: PublishChannel): void {
    const now = this.host.clock.now();
    if (outgoing.nacks === 0) outgoing.nackedSince = now;
    if (now - outgoing.nackedSince >= this.limits.refusedFor) {
      const { exchange, routingKey } = outgoing.publication;
      return this.#finish(outgoing, new RefusedError(exchange, routingKey));
    }
    channel.refusingSince ??= now;
    if (channel === this.#channel && now - channel.refusingSince >= replaceAfter) this.#replace(channel, now);
    const pause = Math.min(pauses.longest, pauses.first * 2 ** Math.min(outgoing.nacks++, 10));
    const spread = Math.ceil(pause * (0.5 + this.host.random() / 2));
    after(this.host.clock, spread, () => {
      if (outgoing.isOver) return;
      this.#waiting.putFirst([outgoing]);
      this.pump();
    });
  }

  /** Opens another channel, but not too often. Unconfirmed publishes of the old channel stay there until they are confirmed. */
  #replace(channel: PublishChannel, now: number): void {
    if (now - this.#replacedAt > 2 * longestReplacement) this.#replacePause = replaceAfter;
    if (now - this.#replacedAt < this.#replacePause) return;
    this.#replacedAt = now;
    this.#replacePause = Math.min(longestReplacement, this.#replacePause * 2);
    this.#retire(channel);
    if (channel.publisher.outstanding === 0) channel.publisher.close();
  }

  #retire(channel: PublishChannel): void {
    channel.isRetired = true;
    if (channel === this.#channel) this.#openChannel();
  }

  #openChannel(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    const publisher = this.host.open(connection, { closed: (failure) => this.#ended(channel, failure) });
    const channel = new PublishChannel(publisher, this.host.clock.now());
    this.#channel = channel;
    this.#channels.add(channel);
    this.pump();
  }

  /** A channel has ended. Fails the publishes that made the server close it, and sends the other unconfirmed ones again. */
  #ended(channel: PublishChannel, failure: ClientError | ConnectionFailedError | undefined): void {
    this.#channels.delete(channel);
    const doubtful = channel.doubtful.splice(0).filter(({ isOver }) => !isOver);
    const wasCurrent = channel === this.#channel;
    if (wasCurrent) this.#channel = undefined;
    const isChannelsOwn = failure instanceof ChannelClosedError && failure.code !== 200;
    const isByPublish = isChannelsOwn || (failure instanceof ConnectionClosedError && isCausedByPublish(failure.code));
    const closing = isChannelsOwn
      ? closingPublishes(failure, doubtful)
      : isByPublish && doubtful.length === 1
        ? doubtful
        : [];
    for (const outgoing of closing)
      this.#finish(outgoing, refusedBy(failure as ChannelClosedError | ConnectionClosedError, outgoing));
    const others = closing.length === 0 ? doubtful : doubtful.filter((outgoing) => !outgoing.isOver);
    // A suspect that was unconfirmed when the network failed is still a suspect.
    const areSuspect = closing.length === 0 && (isByPublish || (wasCurrent && this.#isProbing));
    (areSuspect ? this.#suspects : this.#waiting).putFirst(others);
    this.#isProbing &&= !wasCurrent;
    if (wasCurrent && this.#connection?.isOpen === true) this.#openChannel();
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

  /** Fails publishes after their deadline, and replaces a channel whose confirms do not come. */
  readonly #look = (): void => {
    this.#isLooking = false;
    const now = this.host.clock.now();
    for (const outgoing of this.#live) {
      if (outgoing.deadline > now) break;
      this.#finish(outgoing, this.#late(outgoing, `within ${this.limits.timeout} ms`));
    }
    for (const channel of this.#channels) {
      if (!this.#isStuck(channel, now)) continue;
      this.#retire(channel);
      channel.publisher.close(); // its publishes are sent again on the next one
    }
    if (this.#live.size > 0) this.#lookSoon();
  };

  /** True if confirms are due, and none came for half of the time limit of a publish. */
  #isStuck(channel: PublishChannel, now: number): boolean {
    if (channel.confirms !== channel.seen || channel.publisher.outstanding === 0 || this.#isBlocked) {
      channel.seen = channel.confirms;
      channel.movedAt = now;
    }
    return now - channel.movedAt >= this.limits.timeout / 2;
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
    const isFlowing = this.#channel !== undefined && !this.#isBlocked;
    return isFlowing ? 'messages are published faster than the server takes them' : this.#trouble;
  }
}

function refusedBy(failure: ChannelClosedError | ConnectionClosedError, { publication }: Outgoing): ServerError {
  const { exchange, routingKey } = publication;
  const text = failure instanceof ChannelClosedError ? failure.text : failure.message;
  const what = `the server refused a message to exchange '${exchange}' with routing key '${routingKey}'`;
  return new ServerError(`${what}: ${text}`, failure.code ?? 0, { cause: failure });
}
