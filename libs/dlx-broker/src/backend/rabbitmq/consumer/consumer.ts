import type { Clock } from '../../../broker/index.js';
import { after } from '../../../host/index.js';
import { int32 } from '../../../message/index.js';
import type { BackendDelivery, CancelReason, ConsumeOptions, Consumption } from '../../backend.js';
import { ConnectionLostError, ServerError } from '../../errors.js';
import type { AmqpConnection, Delivery } from '../client/api.js';
import { ChannelClosedError, type ClientError } from '../client/errors.js';
import type { Pauses } from '../pauses.js';
import { mayPass } from '../declarations/calls.js';
import { type Publish, RabbitMqDelivery } from './delivery.js';
import type { Seat } from './seat.js';

/** What a consumer is lent. */
export interface ConsumerHost {
  readonly clock: Clock;
  readonly pauses: () => Pauses;
  readonly publish: Publish;
  /** The connection in use; undefined while there is none. */
  connection(): AmqpConnection | undefined;
  /** Whether a queue is missing only because the server could not declare it again so far. */
  isLate(queue: string): boolean;
  /** It ended for good. */
  left(consumer: RabbitMqConsumer): void;
  readonly fault: (error: unknown) => void;
}

/** `running` also while it waits for a connection. */
type Stage = 'running' | 'cancelled' | 'over';

/**
 * A consumer on a channel of its own. It begins again on each new connection, and when the server closed only its channel, until
 * it is cancelled here or there.
 */
export class RabbitMqConsumer implements Consumption {
  readonly started: Promise<void>;
  #settle: { resolve(): void; reject(failure: Error): void } | undefined;
  #stage: Stage = 'running';
  #seat: Seat | undefined;
  #tag: string | undefined;
  #callOff: (() => void) | undefined;
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

  /** On the connection that is in use, if there is one. */
  begin(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    const connection = this.host.connection();
    if (connection === undefined || this.#stage !== 'running' || this.#seat?.isOver === false) return;
    const { prefetch, priority, exclusive = false } = this.options;
    const channel = connection.openChannel({ closed: (failure) => this.#ended(seat, failure) });
    const seat: Seat = { channel, inHand: 0, isCancelled: false, isOver: false };
    this.#seat = seat;
    this.#tag = undefined;
    channel.qos(prefetch, () => undefined); // a failure ends the channel
    const args = priority === undefined ? {} : { arguments: new Map([['x-priority', int32(priority)]]) };
    const events = {
      delivered: (delivery: Delivery) => this.#delivered(seat, delivery),
      cancelled: () => this.#cancelled(seat),
    };
    channel.consume(this.queue, { exclusive, ...args }, events, (...[failure, tag]) => {
      if (failure === undefined) this.#began(seat, tag);
    });
  }

  cancel(): void {
    if (this.#stage !== 'running') return;
    this.#stage = 'cancelled';
    this.#callOff?.();
    this.#settle?.resolve();
    this.#settle = undefined;
    const seat = this.#seat;
    if (seat === undefined || seat.isOver) this.#leave();
    else if (this.#tag === undefined)
      seat.channel.close(); // it has not begun: nothing is in hand
    else this.#stop(seat, this.#tag);
  }

  close(): void {
    this.cancel();
    const seat = this.#seat;
    if (seat?.isOver === false) seat.channel.close();
    this.#leave();
  }

  #began(seat: Seat, tag: string): void {
    if (seat !== this.#seat) return;
    this.#tag = tag;
    this.#pauses.reset();
    this.#settle?.resolve();
    this.#settle = undefined;
  }

  /** Deliveries may come until the server answers; those go back. */
  #stop(seat: Seat, tag: string): void {
    seat.channel.cancel(tag, () => {
      seat.isCancelled = true;
      if (seat.inHand === 0 && !seat.isOver) seat.channel.close();
    });
  }

  #delivered(seat: Seat, delivery: Delivery): void {
    if (this.#stage !== 'running') return seat.channel.nack(delivery.deliveryTag, { requeue: true });
    try {
      this.onDelivery(new RabbitMqDelivery(delivery, this.queue, seat, this.host.publish));
    } catch (error) {
      this.host.fault(error);
      seat.channel.close(); // a listener that throws cannot consume: everything returns
      this.#fail('closed', error as Error);
    }
  }

  /** The queue was deleted. What is in hand can still be settled, and then the channel ends. */
  #cancelled(seat: Seat): void {
    seat.isCancelled = true;
    if (seat.inHand === 0) seat.channel.close();
    if (seat === this.#seat) this.#fail('deleted', undefined);
  }

  #ended(seat: Seat, failure: ClientError | undefined): void {
    seat.isOver = true;
    if (seat !== this.#seat) return;
    const hadBegun = this.#tag !== undefined;
    this.#seat = undefined;
    this.#tag = undefined;
    if (this.#stage === 'cancelled') this.#leave();
    if (this.#stage !== 'running') return;
    if (!(failure instanceof ChannelClosedError)) return; // the next connection brings it back
    if (hadBegun || this.#mayBegin(failure)) return this.#later();
    const cause = new ServerError(`queue '${this.queue}' cannot be consumed: ${failure.text}`, failure.code, {
      cause: failure,
    });
    this.#fail(failure.code === 404 && this.#settle === undefined ? 'deleted' : 'refused', cause);
  }

  /** On a restore the server may still believe in the connection that was lost, and in its exclusive consumer or queue. */
  #mayBegin(failure: ChannelClosedError): boolean {
    if (mayPass(failure) || (failure.code === 404 && this.host.isLate(this.queue))) return true;
    const isRestored = this.#settle === undefined;
    return isRestored && (failure.code === 405 || (failure.code === 403 && failure.text.includes('exclusive')));
  }

  #later(): void {
    this.#callOff = after(this.host.clock, this.#pauses.next(), () => this.begin());
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
    this.#callOff?.();
    this.host.left(this);
  }
}
