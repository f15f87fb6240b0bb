import {
  type AmqpChannel,
  type AmqpConnection,
  ChannelClosedError,
  type ClientError,
  type Delivery,
} from '../../amqp/client/index.js';
import type { Clock } from '../../engine/broker/index.js';
import { Message } from '../../engine/message/index.js';
import { after, callEach } from '../../platform/index.js';
import type { Done, Publication, ReplyChannel } from '../backend.js';
import { ConnectionLostError, ServerError } from '../errors.js';
import type { Publish } from './publisher/replacements.js';

/** The pseudo-queue for answers to this channel (rule S1). */
const replyQueue = 'amq.rabbitmq.reply-to';

/** A request that waits for the address. */
interface Waiting {
  readonly publication: Publication;
  readonly done: Done | undefined;
}

/** What a reply channel gets from its backend. */
interface RepliesHost {
  readonly clock: Clock;
  readonly publish: Publish;
  /** Milliseconds after which a request fails if the server has given no reply address. */
  readonly timeout: number;
  readonly fault: (error: unknown) => void;
  left(replies: RabbitMqReplies): void;
}

/**
 * Receives the answers to requests by direct reply-to. The server replaces the pseudo-queue in a request by an address, but only on
 * the channel that consumes the pseudo-queue. A failed request would close this channel, and all pending requests would lose their
 * answers. So the channel sends one message to itself, and reads the address in it. Requests with this address are then published on
 * the channel for publishing.
 */
export class RabbitMqReplies implements ReplyChannel {
  #address: string | undefined;
  #waiting: Waiting[] = [];
  #isOver = false;
  #channel: AmqpChannel | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(
    private readonly host: RepliesHost,
    private readonly onReply: (message: Message) => void,
    private readonly lost: (reason: Error) => void,
  ) {
    this.#cancelTimer = after(host.clock, host.timeout, () =>
      this.#end(new ConnectionLostError(`not connected: no request was sent within ${host.timeout} ms`, false)),
    );
  }

  /** Opens the reply channel on a new connection. */
  begin(connection: AmqpConnection): void {
    if (this.#isOver || this.#channel !== undefined) return;
    const channel = connection.openChannel({ closed: (failure) => this.#ended(failure) });
    this.#channel = channel;
    const events = {
      delivered: ({ exchange, routingKey, properties, body }: Delivery) =>
        this.onReply(new Message(exchange, routingKey, properties, body)),
      cancelled: () => this.#end(new ConnectionLostError('the server ended the consumer of replies')),
    };
    channel.consume(replyQueue, { noAck: true }, events, (...[failure]) => {
      if (failure === undefined) this.#learn(channel);
    });
  }

  request(publication: Publication, done?: Done): void {
    if (this.#isOver) return done?.(new ConnectionLostError('the channel of replies is closed', false));
    if (this.#address === undefined) this.#waiting.push({ publication, done });
    else this.#send({ publication, done }, this.#address);
  }

  /** A request that waits for the address is not sent. */
  giveUp(correlationId: string): void {
    const given = this.#waiting.find(({ publication }) => publication.properties.correlationId === correlationId);
    if (given === undefined) return;
    this.#waiting = this.#waiting.filter((each) => each !== given);
    given.done?.(new ConnectionLostError('the request was given up before it was sent', false));
  }

  close(): void {
    this.#end(undefined);
  }

  #learn(channel: AmqpChannel): void {
    const options = { exclusive: true, autoDelete: true };
    channel.declareQueue('', options, (...[failure, declared]) => {
      if (failure !== undefined) return; // the channel has ended, or ends
      const { queue } = declared;
      channel.publish('', queue, { replyTo: replyQueue }, new Uint8Array());
      channel.get(queue, { noAck: true }, (...[, got]) => {
        const address = got?.properties.replyTo;
        channel.deleteQueue(queue, {}, () => undefined);
        if (address === undefined) this.#end(new ServerError('the server gives out no address for replies', 0));
        else this.#learnt(address);
      });
    });
  }

  #learnt(address: string): void {
    this.#cancelTimer?.();
    this.#address = address;
    callEach(this.#waiting.splice(0), (waiting) => this.#send(waiting, address), this.host.fault);
  }

  #send({ publication, done }: Waiting, address: string): void {
    const properties = { ...publication.properties, replyTo: address };
    this.host.publish({ ...publication, properties }, done ?? (() => undefined));
  }

  #ended(failure: ClientError | undefined): void {
    if (failure instanceof ChannelClosedError && failure.code !== 200) {
      const hint = failure.code === 403 ? "; the user needs the right to configure 'amq.gen-.*'" : '';
      this.#end(new ServerError(`requests cannot be sent: ${failure.text}${hint}`, failure.code, { cause: failure }));
    } else
      this.#end(
        new ConnectionLostError(failure?.message ?? 'the channel of replies is closed', true, { cause: failure }),
      );
  }

  #end(reason: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer?.();
    this.host.left(this);
    if (this.#channel?.isOpen === true) this.#channel.close();
    const failure = reason ?? new ConnectionLostError('the channel of replies is closed', false);
    const reports = this.#waiting.splice(0).map(
      ({ done }) =>
        () =>
          done?.(failure),
    );
    if (reason !== undefined) reports.push(() => this.lost(reason));
    callEach(reports, (report) => report(), this.host.fault);
  }
}
