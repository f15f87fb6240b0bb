import {
  type AmqpChannel,
  type AmqpConnection,
  ChannelClosedError,
  type ClientError,
} from '../../../amqp/client/index.js';
import { refusedBy } from './failures.js';
import type { Outgoing } from './outgoing.js';

/** What the exchanges of a publisher get from it. */
interface ExchangesHost {
  /** Whether this process has declared the exchange. */
  readonly isDeclared?: ((exchange: string) => boolean) | undefined;
  /** See {@link PublisherHost.restore}. */
  readonly restore?: ((exchange: string, then: (mayBeThere: boolean) => void) => void) | undefined;
  /** Sends publishes that were held. */
  send(outgoing: readonly Outgoing[]): void;
  fail(outgoing: Outgoing, failure: Error): void;
}

/**
 * The exchanges to which publishes go. A publish to a missing exchange makes the server close the channel, and all that is unconfirmed
 * there has to be sent again. So an exchange that this process neither declared nor used on this connection is looked up first, by a
 * passive declare on a channel of its own; its publishes are held until the answer, in their order.
 */
export class Exchanges {
  readonly #known = new Set<string>();
  readonly #held = new Map<string, Outgoing[]>();
  /** Exchanges that are to be looked up, one after the other. */
  readonly #doubtful = new Set<string>();
  #connection: AmqpConnection | undefined;
  #channel: AmqpChannel | undefined;
  #isAsking = false;

  constructor(private readonly host: ExchangesHost) {}

  /** A connection is open. Its server may lack what an earlier one had. */
  attach(connection: AmqpConnection): void {
    this.#connection = connection;
    this.#channel = undefined;
    this.#isAsking = false;
    this.#known.clear();
    this.#known.add(''); // the default exchange is always there
    for (const exchange of this.#held.keys()) this.#doubtful.add(exchange);
    this.#ask();
  }

  /** @returns true if the publish may be sent now; false if it is held */
  admits(outgoing: Outgoing): boolean {
    const { exchange } = outgoing;
    if (this.#known.has(exchange)) return true;
    const held = this.#held.get(exchange);
    if (held !== undefined) held.push(outgoing);
    else if (this.host.isDeclared?.(exchange) === true) {
      this.#known.add(exchange);
      return true;
    } else {
      this.#held.set(exchange, [outgoing]);
      this.#doubtful.add(exchange);
      this.#ask();
    }
    return false;
  }

  /** The server did not find the exchange of these publishes. Each is sent again once, if the exchange could be declared again. */
  notFound(exchange: string, publishes: readonly Outgoing[], failure: ChannelClosedError): void {
    this.#known.delete(exchange);
    const again: Outgoing[] = [];
    for (const outgoing of publishes) {
      if (outgoing.wasRestored) this.host.fail(outgoing, refusedBy(failure, outgoing.publication));
      else {
        outgoing.wasRestored = true;
        again.push(outgoing);
      }
    }
    if (again.length === 0) return;
    const held = this.#held.get(exchange);
    if (held === undefined) this.#held.set(exchange, again);
    else held.unshift(...again);
    if (held === undefined) this.#restore(exchange, failure);
  }

  #restore(exchange: string, failure: ChannelClosedError): void {
    const { restore } = this.host;
    if (restore === undefined) this.#refuse(exchange, failure);
    else restore(exchange, (mayBeThere) => (mayBeThere ? this.#release(exchange) : this.#refuse(exchange, failure)));
  }

  #ask(): void {
    const [exchange] = this.#doubtful;
    if (this.#isAsking || this.#connection === undefined) return;
    if (exchange === undefined) {
      this.#channel?.close();
      this.#channel = undefined;
      return;
    }
    const connection = this.#connection;
    if (this.#channel?.isOpen !== true) this.#channel = connection.openChannel({ closed: () => undefined });
    this.#isAsking = true;
    this.#doubtful.delete(exchange);
    this.#channel.checkExchange(exchange, (failure) => {
      if (connection !== this.#connection || !connection.isOpen) return; // asked again on the next connection
      this.#isAsking = false;
      this.#answered(exchange, failure);
      this.#ask();
    });
  }

  #answered(exchange: string, failure: ClientError | undefined): void {
    // After another failure the publish itself finds out.
    if (!(failure instanceof ChannelClosedError) || failure.code !== 404) return this.#release(exchange);
    for (const outgoing of this.#held.get(exchange) ?? []) outgoing.wasRestored = true;
    this.#restore(exchange, failure);
  }

  #release(exchange: string): void {
    this.#known.add(exchange);
    this.host.send(this.#take(exchange));
  }

  #refuse(exchange: string, failure: ChannelClosedError): void {
    for (const outgoing of this.#take(exchange)) this.host.fail(outgoing, refusedBy(failure, outgoing.publication));
  }

  #take(exchange: string): readonly Outgoing[] {
    const held = this.#held.get(exchange) ?? [];
    this.#held.delete(exchange);
    return held.filter(({ isOver }) => !isOver);
  }
}
