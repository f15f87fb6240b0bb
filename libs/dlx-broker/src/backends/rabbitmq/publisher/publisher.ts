import {
  type AmqpConnection,
  ChannelClosedError,
  type ClientError,
  ConnectionClosedError,
  NackedError,
  type openPublisher,
  ReturnedError,
} from '../../../amqp/client/index.js';
import type { Clock } from '../../../engine/broker/index.js';
import { after } from '../../../platform/index.js';
import type { Done, Publication } from '../../backend.js';
import { ConnectionLostError } from '../../errors.js';
import { Exchanges } from './exchanges.js';
import { failedInTurn, Failing, late, refused, unroutable, unsendable, verdictOn } from './failures.js';
import { Outgoing, PublishChannel, sizeOf, WaitingLine } from './outgoing.js';
import { type BufferLimits, OpenPublishes, Replacements, Silence } from './replacements.js';

/** The limits of a publisher. All times are milliseconds. */
export interface PublisherLimits extends BufferLimits {
  /** The most publishes that are sent and unconfirmed. Further ones wait. */
  readonly window: number;
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
  /** Whether this process has declared an exchange: it is not looked up before a publish. */
  readonly isDeclared?: (exchange: string) => boolean;
  /** Declares an exchange again that a publish did not find. @param then gets whether another publish may find it */
  readonly restore?: (exchange: string, then: (mayBeThere: boolean) => void) => void;
  /** A callback threw. */
  readonly fault: (error: unknown) => void;
}

/** The shortest and the longest pause before a refused message is published again, in milliseconds. */
const pauses = { first: 50, longest: 1_000 } as const;

/** The pause before another attempt to open a channel, in milliseconds. */
const channelPause = 1_000;

/** The longest pause between two checks of deadlines, in milliseconds. */
const longestCheck = 1_000;

/**
 * Publishes with confirms on one channel, over all connections of a backend. A publish that is not confirmed is sent again
 * as the table in docs/design/backends.md says, and fails at its deadline; none is forgotten.
 */
export class Publisher {
  readonly #open: OpenPublishes;
  readonly #waiting = new WaitingLine();
  /** Publishes of which one made the server close a channel. They are sent one at a time, to find it. */
  readonly #suspects = new WaitingLine();
  readonly #channels = new Set<PublishChannel>();
  readonly #replacements = new Replacements();
  readonly #silence: Silence;
  readonly #failing: Failing;
  readonly #exchanges: Exchanges;
  /** The channel for new publishes. */
  #channel: PublishChannel | undefined;
  #connection: AmqpConnection | undefined;
  /** Why nothing may be sent: there is no connection, or the server blocks publishers. */
  #obstacle: string | undefined = 'the connection is not open yet';
  #isClosed = false;
  /** True during `pump`, which a callback may call again. */
  #isPumping = false;
  #isCheckScheduled = false;
  #idle: (() => void) | undefined;
  readonly #began: number;

  constructor(
    private readonly host: PublisherHost,
    private readonly limits: PublisherLimits,
  ) {
    this.#open = new OpenPublishes(limits);
    this.#silence = new Silence(limits.timeout * 0.75);
    this.#failing = new Failing(host.clock, (outgoing, failure) => this.#finish(outgoing, failure));
    this.#exchanges = new Exchanges({
      isDeclared: host.isDeclared,
      restore: host.restore,
      send: (held) => {
        this.#waiting.putFirst(held);
        this.pump();
      },
      fail: (outgoing, failure) => this.#failing.add(outgoing, failure),
    });
    this.#began = host.clock.now();
  }

  publish(publication: Publication, done?: Done): void {
    if (this.#isClosed) return done?.(new ConnectionLostError('the connection was closed by this application', false));
    const size = sizeOf(publication);
    if (!this.#open.hasRoomFor(size)) return done?.(this.#open.full(this.#whyNotConnected()));
    const { timeout } = publication;
    const outgoing: Outgoing = new Outgoing(
      publication,
      timeout === undefined ? done : this.#limited(timeout, () => outgoing, done),
      this.#now() + this.limits.timeout,
      size,
    );
    this.#open.add(outgoing);
    if (!this.#isCheckScheduled) {
      this.#look(this.#now()); // there was no check while no publish was open
      this.#scheduleCheck();
    }
    if (!this.#maySend() || !this.#waiting.isEmpty) this.#waiting.push(outgoing);
    else if (this.#exchanges.admits(outgoing)) this.#send(outgoing, false);
  }

  /** Gives a publish a limit of its own, by a timer: open publishes are in the order of their common limit. */
  #limited(timeout: number, outgoing: () => Outgoing, done: Done | undefined): Done {
    const cancel = after(this.host.clock, timeout, () => this.#late(outgoing(), `within ${timeout} ms`));
    return (failure) => {
      cancel();
      done?.(failure);
    };
  }

  /** A connection is open: the waiting publishes are sent. */
  attach(connection: AmqpConnection): void {
    this.#connection = connection;
    this.#obstacle = connection.isBlocked ? blockedFor('it is short of memory or disk') : undefined;
    this.#exchanges.attach(connection);
    this.#silence.begin(this.#now());
    this.#needChannel(connection);
  }

  /** The connection is gone. Unconfirmed publishes wait for the next one. @param trouble the reason, for errors */
  detach(trouble: string): void {
    this.#connection = undefined;
    this.#obstacle = trouble;
  }

  /** The server takes no publishes at present. @param reason undefined: it takes them again */
  blocked(reason: string | undefined): void {
    if (this.#connection === undefined) return; // `attach` reads the state of the connection
    this.#obstacle = reason === undefined ? undefined : blockedFor(reason);
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
        if (suspect !== undefined) this.#send(suspect, true);
        else if (this.#exchanges.admits(next)) this.#send(next, false);
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
    if (this.#open.count > 0) {
      await new Promise<void>((resolve) => {
        const cancel = after(this.host.clock, limit, resolve);
        this.#idle = () => {
          cancel();
          resolve();
        };
      });
    }
    while (this.#expire(Infinity, 'before the connection was closed'))
      await new Promise<void>((resolve) => after(this.host.clock, 0, resolve));
  }

  /** The time since this publisher was made: unlike a time since 1970, it needs no memory of its own in each publish. */
  #now(): number {
    return this.host.clock.now() - this.#began;
  }

  /** True if a further message may be sent. While there are suspects, only one message may be unconfirmed. */
  #maySend(): boolean {
    const channel = this.#channel;
    if (channel === undefined || this.#obstacle !== undefined || this.#connection?.isCongested !== false) return false;
    return channel.outstanding < (channel.isProbing || !this.#suspects.isEmpty ? 1 : this.limits.window);
  }

  #send(outgoing: Outgoing, isSuspect: boolean): void {
    const channel = this.#channel as PublishChannel;
    channel.isProbing = isSuspect;
    channel.send(outgoing);
  }

  readonly #answered = (outgoing: Outgoing, channel: PublishChannel, failure: ClientError | undefined): void => {
    if (failure === undefined) return this.#confirmed(outgoing, channel);
    if (failure instanceof ChannelClosedError || failure instanceof ConnectionClosedError) {
      // `#ended` decides about it. On a channel that had ended before, it was never sent.
      if (this.#channels.has(channel)) channel.doubtful.push(outgoing);
      else if (!outgoing.isOver) this.#waiting.putFirst([outgoing]);
      return;
    }
    channel.moved();
    if (!outgoing.isOver) this.#decide(outgoing, channel, failure);
    this.#sendMore(channel);
  };

  #confirmed(outgoing: Outgoing, channel: PublishChannel): void {
    channel.moved();
    if (!outgoing.isOver) {
      channel.refusingSince = undefined;
      this.#finish(outgoing, undefined);
    }
    this.#sendMore(channel);
  }

  /** The server has answered a publish of this channel: another one may be sent. */
  #sendMore(channel: PublishChannel): void {
    if (channel.isRetired) channel.closeIfDone();
    if (!this.#waiting.isEmpty || !this.#suspects.isEmpty) this.pump();
  }

  #decide(outgoing: Outgoing, channel: PublishChannel, failure: ClientError): void {
    const { mandatory = false, dropped } = outgoing.publication;
    if (failure instanceof NackedError) {
      this.#refused(outgoing, channel);
    } else if (failure instanceof ReturnedError) {
      channel.refusingSince = undefined;
      if (mandatory) return this.#failing.add(outgoing, unroutable(outgoing.publication));
      this.#guarded(dropped, outgoing.publication);
      this.#finish(outgoing, undefined);
    } else this.#finish(outgoing, unsendable(outgoing.publication, failure));
  }

  /** Handles a nack: a queue is full or has no leader. The server does not say which. */
  #refused(outgoing: Outgoing, channel: PublishChannel): void {
    const now = this.#now();
    if (outgoing.nacks === 0) outgoing.nackedSince = now;
    if (now - outgoing.nackedSince >= this.limits.refusedFor)
      return this.#failing.add(outgoing, refused(outgoing.publication));
    channel.refusingSince ??= now;
    // Unconfirmed publishes of the old channel stay there until they are confirmed.
    if (channel === this.#channel && this.#replacements.isDue(channel.refusingSince, now)) this.#retire(channel);
    const pause = Math.min(pauses.longest, pauses.first * 2 ** Math.min(outgoing.nacks++, 10));
    const spread = Math.ceil(pause * (0.5 + this.host.random() / 2));
    after(this.host.clock, spread, () => {
      if (outgoing.isOver) return;
      this.#waiting.putFirst([outgoing]);
      this.pump();
    });
  }

  /** Opens another channel in the place of this one. It stays in use if the server allows no further channel. */
  #retire(channel: PublishChannel): void {
    if (channel !== this.#channel || this.#connection === undefined) channel.isRetired = true;
    else channel.isRetired = this.#openChannel(this.#connection);
  }

  /** @returns false if the server allows no further channel at present */
  #openChannel(connection: AmqpConnection): boolean {
    const publisher = this.host.open(connection, { closed: (failure) => this.#ended(channel, failure) });
    const channel = new PublishChannel(publisher, this.#answered, this.#now());
    if (!publisher.isOpen) return false;
    this.#channel = channel;
    this.#channels.add(channel);
    this.pump();
    return true;
  }

  /** Opens a channel where there is none, now or as soon as the server allows one. */
  #needChannel(connection: AmqpConnection): void {
    if (!this.#openChannel(connection)) this.#needChannelLater(connection);
  }

  #needChannelLater(connection: AmqpConnection): void {
    after(this.host.clock, channelPause, () => {
      const isDue = connection === this.#connection && connection.isOpen && this.#channel === undefined;
      if (isDue && !(this.#isClosed && this.#open.count === 0)) this.#needChannel(connection);
    });
  }

  /** A channel has ended. Fails the publishes that made the server close it, and sends the other unconfirmed ones again. */
  #ended(channel: PublishChannel, failure: ClientError | undefined): void {
    this.#channels.delete(channel);
    const wasCurrent = channel === this.#channel;
    if (wasCurrent) this.#channel = undefined;
    const count = channel.doubtful.length;
    const { guilty, suspects, innocent } = verdictOn(failure, channel.doubtful.splice(0), channel.isProbing);
    if (failure instanceof ChannelClosedError && failure.code === 404) this.#missed([...guilty.keys()], failure);
    else for (const [outgoing, refusal] of guilty) this.#failing.add(outgoing, refusal);
    this.#suspects.putFirst(suspects);
    this.#waiting.putFirst(innocent);
    const isFruitless = count === 0 || (!channel.hasAnswered && innocent.length === count);
    if (!wasCurrent || this.#connection?.isOpen !== true) this.pump();
    // A server that closes each channel without a reason must not be called in a loop without a pause.
    else if (isFruitless) this.#needChannelLater(this.#connection);
    else this.#needChannel(this.#connection);
  }

  /** The exchanges of these publishes are missing, nearly always one exchange. */
  #missed(guilty: readonly Outgoing[], failure: ChannelClosedError): void {
    for (const exchange of new Set(guilty.map((outgoing) => outgoing.exchange)))
      this.#exchanges.notFound(
        exchange,
        guilty.filter((outgoing) => outgoing.exchange === exchange),
        failure,
      );
  }

  #finish(outgoing: Outgoing, failure: Error | undefined): void {
    if (outgoing.isOver) return;
    outgoing.isOver = true;
    this.#open.remove(outgoing);
    this.#guarded(outgoing.done, failure);
    if (this.#open.count === 0) this.#idle?.();
  }

  /** Calls a callback of the application, if there is one. */
  #guarded<T>(callback: ((argument: T) => void) | undefined, argument: T): void {
    try {
      callback?.(argument);
    } catch (error) {
      this.host.fault(error);
    }
  }

  #scheduleCheck(pause = Math.max(1, Math.min(longestCheck, this.limits.timeout / 4))): void {
    if (this.#isCheckScheduled) return;
    this.#isCheckScheduled = true;
    after(this.host.clock, pause, this.#check);
  }

  /**
   * Fails publishes after their deadline, replaces a channel on which no confirm came for half of the time of a publish, and leaves a
   * connection on which no answer came for three quarters.
   */
  readonly #check = (): void => {
    const now = this.#now();
    // Publishes of the application when one fails do not schedule a check: the next one may be due at once.
    const isMore = this.#expire(now, `within ${this.limits.timeout} ms`);
    this.#isCheckScheduled = false;
    if (isMore) return this.#scheduleCheck(0);
    const quiet = this.#look(now);
    if (quiet !== undefined) this.#connection?.destroy(`the server answered no publish for ${quiet} ms`);
    if (this.#open.count > 0) this.#scheduleCheck();
  };

  /** Replaces the channels that are stuck. @returns how long the server has answered no publish at all, if that is too long */
  #look(now: number): number | undefined {
    let [isWaiting, hasAnswered] = [false, false];
    for (const channel of this.#channels) {
      hasAnswered ||= channel.hasMoved;
      const stuck = channel.stuckFor(now, this.#obstacle !== undefined);
      isWaiting ||= stuck > 0;
      if (stuck < this.limits.timeout / 2) continue;
      this.#retire(channel);
      channel.publisher.close(); // its publishes are sent again on the next one
    }
    return this.#silence.over(now, isWaiting, hasAnswered);
  }

  /** Fails the publishes whose deadline is not after this time, as many as may fail in one turn. @returns true if there are more */
  #expire(now: number, when: string): boolean {
    for (let count = 0; count < failedInTurn; count++) {
      const outgoing = this.#open.lateAt(now);
      if (outgoing === undefined) return false;
      this.#late(outgoing, when);
    }
    return this.#open.lateAt(now) !== undefined;
  }

  #late(outgoing: Outgoing, when: string): void {
    const isConnected = this.#connection !== undefined;
    this.#finish(outgoing, outgoing.failure ?? late(outgoing, when, this.#whyNotConnected(), isConnected));
  }

  #whyNotConnected(): string {
    if (this.#obstacle === undefined && this.#channel === undefined)
      return 'the server allows no channel for publishing';
    return this.#obstacle ?? 'messages are published faster than the server takes them';
  }
}

const blockedFor = (reason: string): string => `the server blocks publishers: ${reason}`;
