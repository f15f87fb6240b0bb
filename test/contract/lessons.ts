import { lineOf, nonEmpty, refusalOf, type Seen } from '../../apps/playground/src/lessons/ends.js';
import type { Ends, Lesson } from '../../apps/playground/src/lessons/index.js';
import { bodiesOf, type Command, propertiesOf, type Publish } from '../../apps/playground/src/world/command.js';
import { type JsonObject, tableOf, type Topology } from '../../apps/playground/src/world/topology.js';
import { fromFieldTable, plainProperties, readDeaths } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Received, Session, TestChannel, TestConsumer } from './driver.js';
import { Failure } from './failure.js';

/** One second of a lesson on a broker in real time, in milliseconds. */
const realSecond = 50;

interface Client {
  readonly channel: TestChannel;
  readonly consumer: TestConsumer;
  readonly settled: Set<number>;
}

/** Plays a lesson on a broker of the contract. @param scaled whether times are those of the real time */
export class Player {
  readonly #factor: number;
  readonly #clients = new Map<string, Client>();
  readonly #refused: string[] = [];
  readonly #queues = new Set<string>();

  constructor(
    readonly session: Session,
    realTime: boolean,
  ) {
    this.#factor = realTime ? realSecond / 1_000 : 1;
  }

  async play({ topology, steps, shows }: Lesson): Promise<Ends> {
    await this.#declare(topology);
    for (const step of steps) {
      if (step.do !== 'publish') await this.session.settle();
      try {
        await this.#run(step);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        this.#refused.push(refusalOf(step.do, error));
      }
    }
    await this.session.settle();
    const line = (message: Received): string => lineOf(this.#seen(message), shows);
    const held = [...this.#clients].map(([name, client]): [string, string[]] => [
      `${name} holds`,
      this.#held(client).map(line),
    ]);
    const waiting: [string, string[]][] = [];
    for (const queue of this.#queues) waiting.push([queue, (await this.#drain(queue)).map(line)]);
    return nonEmpty([...waiting, ...held, ['refused', this.#refused]]);
  }

  async #declare({ exchanges = [], queues = [], bindings = [], policies = [] }: Topology): Promise<void> {
    for (const exchange of exchanges) await this.#run({ do: 'declare-exchange', exchange });
    for (const queue of queues) await this.#run({ do: 'declare-queue', queue });
    for (const binding of bindings) await this.#run({ do: 'bind', binding });
    for (const policy of policies) await this.#run({ do: 'policy', policy });
  }

  async #run(step: Command): Promise<void> {
    switch (step.do) {
      case 'publish':
        return this.#publish(await this.session.channel(), step);
      case 'consume': {
        const channel = await (await this.session.connect()).channel();
        await channel.qos(step.prefetch ?? 1);
        const consumer = await channel.consume(step.queue, { tag: step.consumer, noAck: step.noAck ?? false });
        return void this.#clients.set(step.consumer, { channel, consumer, settled: new Set() });
      }
      case 'ack':
      case 'reject':
      case 'nack': {
        const client = this.#clients.get(step.consumer);
        const message = client && this.#held(client)[step.held ?? 0];
        if (client === undefined || message === undefined) throw new Error(`${step.consumer} holds nothing`);
        client.settled.add(message.deliveryTag);
        const { channel } = client;
        const requeue = step.requeue ?? false;
        if (step.do === 'ack') return channel.ack(message.deliveryTag);
        if (step.do === 'reject') return channel.reject(message.deliveryTag, requeue);
        return channel.nack(message.deliveryTag, { requeue });
      }
      case 'cancel': {
        const client = this.#clients.get(step.consumer);
        this.#clients.delete(step.consumer);
        return client?.channel.close();
      }
      case 'declare-exchange': {
        const { name, type, arguments: table } = step.exchange;
        return (await this.#channelOf(step.user)).declareExchange(name, type, {
          durable: true,
          arguments: this.#table(table),
        });
      }
      case 'declare-queue': {
        const { name, arguments: table } = step.queue;
        const channel = await this.#channelOf(step.user);
        await channel.declareQueue(name, { durable: true, arguments: this.#table(table) });
        return void this.#queues.add(name);
      }
      case 'bind': {
        const { source, destination, destination_type, routing_key = '', arguments: table } = step.binding;
        const channel = await this.session.channel();
        return channel[destination_type === 'exchange' ? 'bindExchange' : 'bindQueue'](
          destination,
          source,
          routing_key,
          tableOf(table),
        );
      }
      case 'policy': {
        const { name, pattern, definition, priority = 0, 'apply-to': applyTo = 'all' } = step.policy;
        const scaled = fromFieldTable(this.#table(definition)) as Readonly<Record<string, string | number>>;
        const policy = { pattern, definition: scaled, priority, applyTo: applyTo as 'queues' | 'all' };
        return this.session.setPolicy(name, policy);
      }
      case 'clear-policy':
        return this.session.clearPolicy(step.name);
      case 'permissions':
        return this.session.addUser(step.user, step);
      case 'purge':
        return void (await (await this.session.channel()).purgeQueue(step.queue));
      case 'wait':
        return this.session.elapse(step.ms * this.#factor);
      default:
        throw new Error(`no lesson has a step ${step.do} yet`);
    }
  }

  async #publish(channel: TestChannel, step: Publish): Promise<void> {
    const { exchange = '', key, expiration } = step;
    const properties = propertiesOf(
      expiration === undefined ? step : { ...step, expiration: String(Number(expiration) * this.#factor) },
    );
    for (const body of bodiesOf(step)) await channel.publish(exchange, key, { body, properties });
  }

  /** A declaration that is refused ends its channel, so each has its own. */
  async #channelOf(user: string | undefined): Promise<TestChannel> {
    return (await this.session.connect(user === undefined ? {} : { user })).channel();
  }

  /** Times in the time of the broker. */
  #table(plain: JsonObject = {}) {
    const times = new Set(['x-message-ttl', 'x-expires', 'x-delayed-retry-min', 'message-ttl', 'expires']);
    return tableOf(
      Object.fromEntries(
        Object.entries(plain).map(([name, value]) => [
          name,
          times.has(name) && typeof value === 'number' ? value * this.#factor : value,
        ]),
      ),
    );
  }

  #held({ consumer, settled }: Client): readonly Received[] {
    return consumer.messages.filter(({ deliveryTag }) => !settled.has(deliveryTag));
  }

  /** A queue may be gone. */
  async #drain(queue: string): Promise<readonly Received[]> {
    try {
      return await this.session.drain(queue);
    } catch (error) {
      if (error instanceof Failure && error.code === 404) return [];
      throw error;
    }
  }

  #seen({ body, exchange, routingKey, properties, redelivered }: Received): Seen {
    const deaths = readDeaths(properties.headers).map(({ originalExpiration, ...death }) =>
      originalExpiration === undefined
        ? death
        : { ...death, originalExpiration: String(Number(originalExpiration) / this.#factor) },
    );
    const headers = { ...fromFieldTable(properties.headers) };
    return { body, exchange, routingKey, properties: plainProperties(properties), headers, deaths, redelivered };
  }
}
