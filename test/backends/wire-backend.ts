import {
  RefusedError,
  TopologyError,
  UnroutableError,
  type Backend,
  type BackendDelivery,
  type BackendState,
  type ConsumeOptions,
  type Consumption,
  type Done,
  type Publication,
  type QueueStatus,
  type ReplyChannel,
  type ServerInfo,
} from '../../libs/dlx-broker/src/backends/index.js';
import { allPublished } from '../../libs/dlx-broker/src/backends/rabbitmq/publisher/replacements.js';
import type { QueueDeclaration, Topology } from '../../libs/dlx-broker/src/backends/topology/index.js';
import { int32, Message, type FieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { Failure } from '../contract/failure.js';
import type { Content, WireChannel } from '../contract/wire/channel.js';
import { WireConnection, type WireOptions } from '../contract/wire/connection.js';
import type { Arguments, Method } from '../contract/wire/methods.js';

interface Outstanding {
  readonly publication: Publication;
  readonly done: Done | undefined;
  isReturned: boolean;
}

/**
 * A backend on a broker behind a wire, just enough to run the same handlers on a real RabbitMQ: a publish is confirmed
 * before it is done, and a delivery acked after its successor was confirmed.
 */
export class WireBackend implements Backend {
  readonly rejectsWithHeaders = false;
  readonly clock = new SystemClock();
  readonly state: BackendState = { kind: 'ready', server: { product: 'RabbitMQ', version: '3.10' } };
  readonly #options: WireOptions;
  readonly #outstanding = new Map<number, Outstanding>();
  #connection: WireConnection | undefined;
  #publishing: WireChannel | undefined;
  #published = 0;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  get ready(): Promise<ServerInfo> {
    return this.connect().then(() => ({ product: 'RabbitMQ', version: '3.10' }));
  }

  /** It does not watch its connection. */
  onState(): () => void {
    return () => undefined;
  }

  async connect(): Promise<void> {
    if (this.#connection !== undefined) return;
    this.#connection = await WireConnection.open(this.#options);
    await this.#openPublishing();
  }

  async declare({ exchanges, queues, bindings }: Topology): Promise<ReadonlySet<string>> {
    const different = new Set<string>();
    for (const { name, ...exchange } of exchanges) {
      await this.#once((channel) => channel.call('exchange.declare', { exchange: name, ...plain(exchange) }));
    }
    for (const queue of queues) if (!(await this.#declareQueue(queue))) different.add(queue.name);
    for (const { source, destination, destinationType, routingKey: key, arguments: args } of bindings) {
      const to: Arguments =
        destinationType === 'queue' ? { queue: destination, exchange: source } : { destination, source };
      await this.#once((channel) => channel.call(`${destinationType}.bind`, { ...to, key, arguments: args }));
    }
    return different;
  }

  /** @returns false when it exists with other arguments than asked, as it may */
  async #declareQueue({ name, mayDiffer, ...queue }: QueueDeclaration): Promise<boolean> {
    try {
      await this.#once((channel) => channel.call('queue.declare', { queue: name, ...plain(queue) }));
      return true;
    } catch (error) {
      const argument = /inequivalent arg '([^']+)'/.exec(String((error as Error).message))?.[1];
      if (argument === undefined || mayDiffer?.includes(argument) !== true) throw error;
      return false;
    }
  }

  publish(publication: Publication, done?: Done): void {
    const { exchange, routingKey: key, properties, body, mandatory = false } = publication;
    this.#outstanding.set(++this.#published, { publication, done, isReturned: false });
    this.#publishing?.publish({ exchange, key, mandatory }, properties, body);
  }

  consume(queue: string, options: ConsumeOptions, onDelivery: (delivery: BackendDelivery) => void): Consumption {
    const state = { isClosed: false, channel: undefined as WireChannel | undefined };
    const begin = async (): Promise<void> => {
      const channel = (state.channel = await this.#open());
      channel.listener = ({ name, ...method }) => {
        if (name === 'basic.deliver') onDelivery(new WireDelivery(this, channel, queue, { name, ...method }));
        if (name === 'basic.cancel') options.onCancel?.('deleted');
      };
      await channel.call('basic.qos', { prefetchCount: options.prefetch });
      const args: FieldTable =
        options.priority === undefined ? new Map() : new Map([['x-priority', int32(options.priority)]]);
      await channel.call('basic.consume', { queue, consumerTag: 'c', arguments: args });
      if (state.isClosed) await channel.call('channel.close', { code: 200 });
    };
    return {
      started: begin(),
      cancel: () => void state.channel?.call('basic.cancel', { consumerTag: 'c' }).catch(() => undefined),
      close: () => {
        state.isClosed = true;
        void state.channel?.call('channel.close', { code: 200 }).catch(() => undefined);
      },
    };
  }

  openReplies(): ReplyChannel {
    throw new Error('no requests are made in these tests');
  }

  async status(queue: string): Promise<QueueStatus | undefined> {
    try {
      const { args } = await this.#once((channel) => channel.call('queue.declare', { queue, passive: true }));
      return {
        messages: args['messageCount'] as number,
        unacknowledged: undefined,
        consumers: args['consumerCount'] as number,
      };
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    this.#connection = undefined;
  }

  async #openPublishing(): Promise<void> {
    const channel = (this.#publishing = await this.#open());
    channel.listener = (method) => this.#heard(method);
    await channel.call('confirm.select', {});
  }

  #heard({ name, args }: Method & Partial<Content>): void {
    if (name === 'basic.return') {
      // It comes right before the confirm of the same publish.
      const returned = [...this.#outstanding.values()].find(
        ({ publication, isReturned }) => !isReturned && publication.routingKey === args['key'],
      );
      if (returned !== undefined) returned.isReturned = true;
      return;
    }
    const upTo = args['deliveryTag'] as number;
    for (const [tag, { publication, done, isReturned }] of this.#outstanding) {
      if (args['multiple'] === true ? tag > upTo : tag !== upTo) continue;
      this.#outstanding.delete(tag);
      const { exchange, routingKey } = publication;
      if (name === 'basic.nack') done?.(new RefusedError(exchange, routingKey));
      else done?.(isReturned ? new UnroutableError(exchange, routingKey) : undefined);
    }
  }

  /** A channel of its own, for an error closes it. */
  async #once<T>(work: (channel: WireChannel) => Promise<T>): Promise<T> {
    await this.connect();
    const channel = await this.#open();
    try {
      const result = await work(channel);
      await channel.call('channel.close', { code: 200 });
      return result;
    } catch (error) {
      throw new TopologyError(error instanceof Failure ? error.text : String(error), [], { cause: error });
    }
  }

  #open(): Promise<WireChannel> {
    return (this.#connection as WireConnection).openChannel();
  }
}

/** Declarations are spelled as the arguments of the methods are; the rest is not written. */
const plain = (declaration: object): Arguments => declaration as Arguments;

class WireDelivery implements BackendDelivery {
  readonly message: Message;
  readonly redelivered: boolean;
  readonly #tag: number;
  #settled = false;

  constructor(
    readonly backend: WireBackend,
    readonly channel: WireChannel,
    readonly queue: string,
    { args, properties = {}, body = Buffer.alloc(0) }: Method & Partial<Content>,
  ) {
    this.message = new Message(args['exchange'] as string, args['key'] as string, properties, body);
    this.redelivered = args['redelivered'] as boolean;
    this.#tag = args['deliveryTag'] as number;
  }

  get settled(): boolean {
    return this.#settled || this.channel.failure !== undefined;
  }

  ack(): void {
    this.#settle('basic.ack', {});
  }

  reject(): void {
    this.#settle('basic.reject', { requeue: false });
  }

  requeue(): void {
    this.#settle('basic.reject', { requeue: true });
  }

  giveBack(): void {
    this.#settle('basic.nack', { requeue: true });
  }

  replaceBy(publication: Publication, done?: Done): void {
    this.commit([publication], done);
  }

  commit(publications: readonly Publication[], done?: Done): void {
    const publish = this.backend.publish.bind(this.backend);
    allPublished(publications, publish, (failure) => {
      if (failure === undefined) this.ack();
      done?.(failure);
    });
  }

  #settle(method: string, args: Arguments): void {
    if (this.settled) return;
    this.#settled = true;
    this.channel.send(method, { deliveryTag: this.#tag, ...args });
  }
}
