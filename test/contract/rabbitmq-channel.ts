import { noProperties } from '../../libs/dlx-broker/src/engine/message/index.js';
import { ChannelRecord } from './channel-record.js';
import type { Received, TestChannel } from './driver.js';
import type { Content, WireChannel } from './wire/channel.js';
import type { Method } from './wire/methods.js';

/** What a channel needs of its session. */
export interface ListenerContext {
  readonly watched: Set<string>;
  hasQuorumQueues: boolean;
  plainFailure(error: unknown): unknown;
}

/** A channel of a broker behind a wire. */
export class RabbitMqChannel implements TestChannel {
  readonly record = new ChannelRecord();
  readonly #channel: WireChannel;
  readonly #session: ListenerContext;

  constructor(channel: WireChannel, session: ListenerContext) {
    this.#channel = channel;
    this.#session = session;
    channel.listener = (method) => this.#receive(method);
  }

  get returns() {
    return this.record.returns;
  }

  get log() {
    return this.record.log;
  }

  confirms() {
    return this.record.confirms();
  }

  async declareExchange(name: string, type: string, options = {}): Promise<void> {
    await this.#call('exchange.declare', { exchange: name, type, ...options });
  }

  async deleteExchange(name: string, options = {}): Promise<void> {
    await this.#call('exchange.delete', { exchange: name, ...options });
  }

  async bindExchange(destination: string, source: string, key = '', args = new Map()): Promise<void> {
    await this.#call('exchange.bind', { destination, source, key, arguments: args });
  }

  async unbindExchange(destination: string, source: string, key = '', args = new Map()): Promise<void> {
    await this.#call('exchange.unbind', { destination, source, key, arguments: args });
  }

  async declareQueue(name: string, options: Parameters<TestChannel['declareQueue']>[1] = {}) {
    const { args } = await this.#call('queue.declare', { queue: name, ...options });
    const queue = args['queue'] as string;
    // Asking for the counts of a queue with x-expires would keep it alive (rule B12).
    if (options.arguments?.has('x-expires') !== true && options.exclusive !== true && options.passive !== true)
      this.#session.watched.add(queue);
    if (options.arguments?.get('x-queue-type')?.value === 'quorum') this.#session.hasQuorumQueues = true;
    return {
      queue,
      messageCount: args['messageCount'] as number,
      consumerCount: args['consumerCount'] as number,
    };
  }

  async bindQueue(queue: string, exchange: string, key = '', args = new Map()): Promise<void> {
    await this.#call('queue.bind', { queue, exchange, key, arguments: args });
  }

  async unbindQueue(queue: string, exchange: string, key = '', args = new Map()): Promise<void> {
    await this.#call('queue.unbind', { queue, exchange, key, arguments: args });
  }

  async purgeQueue(queue: string): Promise<number> {
    return (await this.#call('queue.purge', { queue })).args['messageCount'] as number;
  }

  async deleteQueue(queue: string, options = {}): Promise<number> {
    return (await this.#call('queue.delete', { queue, ...options })).args['messageCount'] as number;
  }

  async qos(prefetch: number, options = {}): Promise<void> {
    await this.#call('basic.qos', { prefetchCount: prefetch, ...options });
  }

  async consume(queue: string, options: Parameters<TestChannel['consume']>[1] = {}) {
    const { tag, ...others } = options;
    const { args } = await this.#call('basic.consume', { queue, consumerTag: tag ?? '', ...others });
    return this.record.consumer(args['consumerTag'] as string);
  }

  async cancel(tag: string): Promise<void> {
    await this.#call('basic.cancel', { consumerTag: tag });
    this.record.forget(tag);
  }

  async publish(exchange: string, key: string, options: Parameters<TestChannel['publish']>[2] = {}): Promise<void> {
    const { properties = noProperties, body = '', ...flags } = options;
    this.record.published();
    this.#channel.publish({ exchange, key, ...flags }, properties, Buffer.from(body));
    await this.#sync();
  }

  async get(queue: string, options = {}): Promise<Received | undefined> {
    const answer = await this.#call('basic.get', { queue, ...options });
    return answer.name === 'basic.get-empty' ? undefined : received(answer);
  }

  ack(deliveryTag: number, multiple = false): Promise<void> {
    this.#channel.send('basic.ack', { deliveryTag, multiple });
    return this.#sync();
  }

  nack(deliveryTag: number, options: { multiple?: boolean; requeue: boolean }): Promise<void> {
    this.#channel.send('basic.nack', { deliveryTag, ...options });
    return this.#sync();
  }

  reject(deliveryTag: number, requeue: boolean): Promise<void> {
    this.#channel.send('basic.reject', { deliveryTag, requeue });
    return this.#sync();
  }

  async recover(requeue: boolean): Promise<void> {
    await this.#call('basic.recover', { requeue });
  }

  async confirmSelect(): Promise<void> {
    await this.#call('confirm.select', {});
    this.record.confirmSelected();
  }

  async txSelect(): Promise<void> {
    await this.#call('tx.select', {});
  }

  async txCommit(): Promise<void> {
    await this.#call('tx.commit', {});
  }

  async txRollback(): Promise<void> {
    await this.#call('tx.rollback', {});
  }

  async close(): Promise<void> {
    await this.#call('channel.close', { code: 200 });
  }

  /** A round trip that changes nothing: whatever the last method broke has come to light after it. */
  async #sync(): Promise<void> {
    await this.#call('basic.cancel', { consumerTag: 'nobody' });
  }

  #call: WireChannel['call'] = (name, args) =>
    this.#channel.call(name, args).catch((error: unknown) => {
      throw this.#session.plainFailure(error);
    });

  #receive(method: Method & Partial<Content>): void {
    const { args, name } = method;
    if (name === 'basic.deliver') this.record.delivered(args['consumerTag'] as string, received(method));
    else if (name === 'basic.cancel') this.record.cancelled(args['consumerTag'] as string);
    else if (name === 'basic.return')
      this.record.returned({
        code: args['code'] as number,
        text: args['text'] as string,
        exchange: args['exchange'] as string,
        routingKey: args['key'] as string,
        properties: method.properties ?? {},
        body: String(method.body),
      });
    else this.record.confirmed(args['deliveryTag'] as number, args['multiple'] as boolean, name === 'basic.ack');
  }
}

export function received({ args, properties, body }: Method & Partial<Content>): Received {
  return {
    deliveryTag: args['deliveryTag'] as number,
    redelivered: args['redelivered'] as boolean,
    exchange: args['exchange'] as string,
    routingKey: args['key'] as string,
    properties: properties ?? {},
    body: String(body),
    ...('messageCount' in args ? { messageCount: args['messageCount'] as number } : {}),
  };
}
