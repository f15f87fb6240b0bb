import {
  type AmqpConnection,
  ChannelClosedError,
  type ClientError,
  type Delivery,
  type openPublisher,
  UnsendableError,
} from '../../../amqp/client/index.js';
import type { Clock } from '../../../engine/broker/index.js';
import { int32 } from '../../../engine/message/index.js';
import { after } from '../../../platform/index.js';
import type { BackendDelivery, CancelReason, ConsumeOptions, Consumption } from '../../backend.js';
import { ConnectionLostError, ServerError } from '../../errors.js';
import { mayPass } from '../declarations/calls.js';
import type { Warn } from '../options.js';
import type { Pauses } from '../pauses.js';
import type { PublisherHost } from '../publisher/publisher.js';
import type { Publish } from '../publisher/replacements.js';
import { RabbitMqDelivery } from './delivery.js';
import { ConsumerSession } from './session.js';

/** What a consumer gets from its backend. */
interface ConsumerHost {
  readonly clock: Clock;
  readonly pauses: () => Pauses;
  readonly publish: Publish;
  /** The connection in use; undefined while there is none. */
  connection(): AmqpConnection | undefined;
  /** Opens a channel that publishes and consumes; undefined where the server cannot replace deliveries in one step. */
  readonly openReplacing?: () => typeof openPublisher | undefined;
  /** Whether a queue is missing only because the server could not declare it again so far. */
  isLate(queue: string): boolean;
  /** See {@link PublisherHost.restore}. */
  readonly restore?: PublisherHost['restore'];
  /** How long a consumer that closes waits for commits, in milliseconds. */
  readonly closeTimeout: number;
  readonly warn: Warn;
  /** Called when the consumer has ended for good. */
  left(consumer: RabbitMqConsumer): void;
  readonly fault: (error: unknown) => void;
}

/** `running` also while it waits for a connection. */
type Stage = 'running' | 'cancelled' | 'over';

/**
 * A consumer on a channel of its own. It begins again on each new connection, and when the server closed only its channel, until
 * the application or the server cancels it.
 */
export class RabbitMqConsumer implements Consumption {
  readonly started: Promise<void>;
  #settle: { resolve(): void; reject(failure: Error): void } | undefined;
  #stage: Stage = 'running';
  #session: ConsumerSession | undefined;
  #tag: string | undefined;
  #cancelTimer: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  readonly #pauses: Pauses;

  constructor(
    private readonly host: ConsumerHost,
    readonly queue: string,
    private readonly options: ConsumeOptions,
    private readonly onDelivery: (delivery: BackendDelivery) => void,
  ) {
    this.#pauses = host.pauses();
    this.started = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.started.catch(() => undefined);
  }

  get isOver(): boolean {
    return this.#stage === 'over';
  }

  /** Starts on the present connection, if there is one. */
  begin(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const connection = this.host.connection();
    if (connection === undefined || this.#stage !== 'running' || this.#session?.isOver === false) return;
    const { prefetch, priority, exclusive = false } = this.options;
    const over = { closed: (failure?: ClientError): void => this.#ended(session, failure) };
    const replacing = this.host.openReplacing?.()?.(connection, over);
    const channel = replacing?.channel ?? connection.openChannel(over);
    const session = new ConsumerSession(connection, channel, replacing);
    this.#session = session;
    this.#tag = undefined;
    channel.qos(prefetch, () => undefined); // a failure ends the channel
    const args = priority === undefined ? {} : { arguments: new Map([['x-priority', int32(priority)]]) };
    const events = {
      delivered: (delivery: Delivery) => this.#delivered(session, delivery),
      cancelled: () => this.#cancelled(session),
    };
    channel.consume(this.queue, { exclusive, ...args }, events, (...[failure, tag]) => {
      if (failure === undefined) this.#began(session, tag);
    });
  }

  cancel(): void {
    if (!this.#end()) return;
    const session = this.#session;
    if (session === undefined || session.isOver) this.#leave();
    else if (this.#tag === undefined)
      session.close(); // it has not started, so there are no deliveries
    else session.cancel(this.#tag); // deliveries that arrive until the server answers are requeued
  }

  /** Waits for commits that are under way, no longer than `closeTimeout`. See {@link ConsumerSession.close}. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#end();
    const session = this.#session;
    if (session === undefined || session.isOver) return this.#leave();
    const { clock, closeTimeout, warn } = this.host;
    await new Promise<void>((resolve) => {
      const tooLong = (): void => {
        const count = session.abandon();
        const text =
          `the consumer of queue '${this.queue}' closed while messages were being republished, and the server did not confirm ` +
          `${count} of them within ${closeTimeout} ms: they return to the queue, and may be republished as well`;
        warn(text, 'republishedInDoubt');
      };
      const cancel = after(clock, closeTimeout, tooLong);
      session.close(() => {
        cancel();
        resolve();
      });
    });
  }

  /** It gets no further deliveries. @returns false if that is so already */
  #end(): boolean {
    if (this.#stage !== 'running') return false;
    this.#stage = 'cancelled';
    this.#cancelTimer?.();
    this.#settle?.resolve();
    this.#settle = undefined;
    return true;
  }

  #began(session: ConsumerSession, tag: string): void {
    if (session !== this.#session) return;
    this.#tag = tag;
    this.#pauses.reset();
    this.#settle?.resolve();
    this.#settle = undefined;
  }

  #delivered(session: ConsumerSession, delivery: Delivery): void {
    if (session.isClosing) return; // it returns with the end of the channel
    const isTaken = this.#stage === 'running' || (this.#stage === 'cancelled' && this.options.takesLate === true);
    if (!isTaken) return session.refuse(delivery.deliveryTag);
    try {
      this.onDelivery(new RabbitMqDelivery(delivery, this.queue, session, this.host));
    } catch (error) {
      this.host.fault(error);
      session.close(); // a listener that throws cannot consume: the server requeues all deliveries
      this.#fail('closed', error as Error);
    }
  }

  /** The server cancelled the consumer: its queue was deleted. Unsettled deliveries can still be settled; then the channel is closed. */
  #cancelled(session: ConsumerSession): void {
    session.cancelled();
    if (session === this.#session) this.#fail('deleted', undefined);
  }

  #ended(session: ConsumerSession, failure: ClientError | undefined): void {
    session.over();
    if (session !== this.#session) return;
    const hadBegun = this.#tag !== undefined;
    this.#session = undefined;
    this.#tag = undefined;
    if (this.#stage === 'cancelled') this.#leave();
    if (hadBegun) this.#interrupted(failure);
    if (this.#stage !== 'running') return;
    if (failure instanceof UnsendableError && this.host.connection() !== undefined) return this.#noChannel(failure);
    if (!(failure instanceof ChannelClosedError)) return; // it begins again on the next connection
    if (hadBegun || this.#mayBegin(failure)) return this.#later();
    const isRight = failure.code === 403 && !failure.text.includes('exclusive');
    const hint = isRight ? '; give the user of rabbitmq() the right to read it' : '';
    const text = `queue '${this.queue}' cannot be consumed: ${failure.text}${hint}`;
    const cause = new ServerError(text, failure.code, { cause: failure });
    this.#fail(failure.code === 404 && this.#settle === undefined ? 'deleted' : 'refused', cause);
  }

  #interrupted(failure: Error | undefined): void {
    try {
      this.options.onInterrupted?.(failure);
    } catch (error) {
      this.host.fault(error);
    }
  }

  /** The server allows no further channel. After a reconnect others may become free. */
  #noChannel(failure: UnsendableError): void {
    if (this.#settle === undefined) return this.#later();
    const text = `queue '${this.queue}' cannot be consumed: ${failure.message}; raise channel_max of the server`;
    this.#fail('refused', new ServerError(text, 0, { cause: failure }));
  }

  /**
   * True for failures that may pass. After a reconnect the server may not have noticed yet that the old connection is gone, and still
   * have its exclusive consumer or queue.
   */
  #mayBegin(failure: ChannelClosedError): boolean {
    if (mayPass(failure) || (failure.code === 404 && this.host.isLate(this.queue))) return true;
    const isRestored = this.#settle === undefined;
    return isRestored && (failure.code === 405 || (failure.code === 403 && failure.text.includes('exclusive')));
  }

  #later(): void {
    this.#cancelTimer = after(this.host.clock, this.#pauses.next(), () => this.begin());
  }

  #fail(reason: CancelReason, failure: Error | undefined): void {
    if (this.#stage !== 'running') return;
    this.#leave();
    const starting = this.#settle;
    this.#settle = undefined;
    if (starting !== undefined) {
      starting.reject(failure ?? new ConnectionLostError(`the consumer of queue '${this.queue}' ended`));
      return;
    }
    try {
      this.options.onCancel?.(reason, failure);
    } catch (error) {
      this.host.fault(error);
    }
  }

  #leave(): void {
    this.#stage = 'over';
    this.#cancelTimer?.();
    this.host.left(this);
  }
}
