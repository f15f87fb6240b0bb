import {
  AmqpError,
  type Channel,
  type Delivery,
  PatternError,
  PolicyError,
  type ProfileName,
  silentOutbox,
} from '../../../../libs/dlx-broker/src/engine/broker/index.js';
import { type Message, messageOf, Notes } from '../../../../libs/dlx-broker/src/engine/message/index.js';
import {
  bodiesOf,
  type Command,
  type Consume,
  maxCommands,
  propertiesOf,
  type Publish,
  type Settle,
} from './command.js';
import type { NewEvent, Place, WorldEvent } from './event.js';
import { Misread } from './fields.js';
import { Host, limits } from './host.js';
import { type ConsumerState, messageState, type State, stateOf } from './state.js';
import { type BindingDefinition, readTopology, tableOf, type Topology, topologyOf } from './topology.js';

export interface Setup {
  readonly topology: Topology;
  readonly profile: ProfileName;
}

/** The name of the consumer that holds what `get` took. */
export const getter = 'get';

interface Held {
  readonly tag: number;
  readonly place: Place;
  readonly message: Message;
  readonly redelivered: boolean;
}

/** A client of its own: one channel, with one consumer at most. */
interface Client {
  readonly channel: Channel;
  readonly queue: string | undefined;
  readonly prefetch: number;
  held: Held[];
}

/** A broker with one virtual host, in virtual time, which a reader commands. Everything is deterministic. */
export class World {
  readonly setup: Setup;
  readonly #clients = new Map<string, Client>();
  readonly #events: WorldEvent[] = [];
  readonly #commands: Command[] = [];
  readonly #host: Host;
  #lastEvent = 0;
  #published = 0;

  /** @throws Misread when the topology is wrong, or RabbitMQ would refuse it */
  constructor(setup: Setup) {
    this.setup = { ...setup, topology: readTopology(setup.topology) };
    this.#host = new Host(setup.profile, (event) => this.#emit(event));
    const { exchanges = [], queues = [], bindings = [], policies = [] } = this.setup.topology;
    const declare = (part: string, commands: readonly Command[]): void =>
      commands.forEach((command, index) => {
        const text = this.#try(command);
        if (text !== undefined) throw new Misread(`${part}[${index}]: ${text.message.trim()}`);
      });
    declare(
      'exchanges',
      exchanges.map((exchange) => ({ do: 'declare-exchange', exchange })),
    );
    declare(
      'queues',
      queues.map((queue) => ({ do: 'declare-queue', queue })),
    );
    declare(
      'bindings',
      bindings.map((binding) => ({ do: 'bind', binding })),
    );
    declare(
      'policies',
      policies.map((policy) => ({ do: 'policy', policy })),
    );
  }

  /** The same world after these commands, or at an earlier moment: `until` is in milliseconds since the beginning. */
  static replay(setup: Setup, commands: readonly Command[], until = Infinity): World {
    const world = new World(setup);
    for (const command of commands) {
      if (command.do !== 'wait') world.run(command);
      else world.advance(Math.min(command.ms, until - world.now));
      if (world.now >= until) break;
    }
    return world;
  }

  /** When it begins, in milliseconds since 1970: the times in `x-death` are of this calendar. */
  get start(): number {
    return this.#host.start;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#host.clock.now() - this.#host.start;
  }

  /** What was done so far, `advance` as `wait`: with {@link setup} it is the whole world. */
  get commands(): readonly Command[] {
    return this.#commands;
  }

  /** The last events, the oldest first. */
  get events(): readonly WorldEvent[] {
    return this.#events;
  }

  /** Why nothing happens any more: a limit of the world is reached. Undefined while it goes on. */
  get stopped(): string | undefined {
    return this.#host.stopped;
  }

  get state(): State {
    const { broker, recorder, clock } = this.#host;
    const consumers = [...this.#clients].map(([name, { queue, prefetch, held }]): ConsumerState => ({
      name,
      ...(queue === undefined ? {} : { queue }),
      prefetch,
      held: held.map(({ message, place, redelivered }) => messageState(message, place, redelivered, 0, clock.now())),
    }));
    return { now: this.now, ...stateOf(broker, recorder), consumers };
  }

  /** What is declared now, for RabbitMQ to import. */
  get definitions(): Required<Topology> {
    return topologyOf(this.#host.broker);
  }

  /** Milliseconds until something happens by itself; undefined if nothing will. */
  nextEvent(): number | undefined {
    const { clock, stopped } = this.#host;
    const next = stopped === undefined ? clock.nextWakeUp() : undefined;
    return next === undefined ? undefined : Math.max(0, next - clock.now());
  }

  /** Lets time pass: whole milliseconds. @returns what happened */
  advance(ms: number): readonly WorldEvent[] {
    const before = this.#lastEvent;
    if (this.stopped !== undefined || !(ms >= 1 && ms <= limits.ms)) return [];
    const passed = this.#host.advance(Math.floor(ms));
    const last = this.#commands.at(-1);
    if (last?.do === 'wait') this.#commands.splice(-1, 1, { do: 'wait', ms: last.ms + passed });
    else this.#commands.push({ do: 'wait', ms: passed });
    return this.#since(before);
  }

  /** Does what the reader wants. What RabbitMQ refuses is an event `refused`. @returns what happened */
  run(command: Command): readonly WorldEvent[] {
    if (command.do === 'wait') return this.advance(command.ms);
    const before = this.#lastEvent;
    if (this.stopped !== undefined) return [];
    if (this.#commands.length >= maxCommands) this.#host.stop(`${maxCommands} commands are the most`);
    else this.#commands.push(command);
    const error = this.stopped === undefined ? this.#try(command) : undefined;
    const code = error instanceof AmqpError ? error.code : 400;
    if (error !== undefined) this.#emit({ kind: 'refused', command, code, text: error.message.trim() });
    return this.#since(before);
  }

  /** @returns why the command is refused */
  #try(command: Command): Error | undefined {
    try {
      this.#do(command);
      return undefined;
    } catch (error) {
      if (refusals.some((refusal) => error instanceof refusal)) return error as Error;
      throw error;
    } finally {
      this.#host.settle();
    }
  }

  #do(command: Command): void {
    switch (command.do) {
      case 'publish':
        return this.#publish(command);
      case 'consume':
        return this.#consume(command);
      case 'cancel':
        return this.#cancel(command.consumer);
      case 'get':
        return this.#get(command.queue);
      case 'ack':
      case 'reject':
      case 'nack':
        return this.#settle(command);
      case 'declare-exchange': {
        const {
          name,
          type,
          durable = true,
          auto_delete = false,
          internal = false,
          arguments: table,
        } = command.exchange;
        const options = { type, durable, autoDelete: auto_delete, internal, arguments: tableOf(table) };
        return this.#brief((channel) => channel.declareExchange(name, options), command.user);
      }
      case 'delete-exchange':
        return this.#brief((channel) => channel.deleteExchange(command.exchange));
      case 'declare-queue': {
        const { name, durable = true, auto_delete = false, arguments: table } = command.queue;
        const options = { durable, autoDelete: auto_delete, arguments: tableOf(table) };
        return this.#brief((channel) => channel.declareQueue(name, options), command.user);
      }
      case 'delete-queue':
        return this.#brief((channel) => channel.deleteQueue(command.queue));
      case 'bind':
      case 'unbind':
        return this.#bind(command.do, command.binding);
      case 'policy': {
        const { name, pattern, definition, 'apply-to': applyTo = 'all', priority = 0 } = command.policy;
        return void this.#host.vhost.setPolicy(name, { pattern, definition, applyTo, priority });
      }
      case 'clear-policy':
        if (!this.#host.vhost.deletePolicy(command.name))
          throw new AmqpError('NOT_FOUND', `no policy '${command.name}'`);
        return;
      case 'permissions':
        return this.#host.permit(command);
      case 'purge':
        return this.#brief((channel) => {
          this.#emit({ kind: 'purged', queue: command.queue, count: channel.purgeQueue(command.queue) });
        });
      case 'restart':
        for (const name of this.#clients.keys()) this.#cancelled(name);
        return this.#host.restart();
      case 'wait':
    }
  }

  #publish(command: Publish): void {
    const { exchange = '', key, cc = [], bcc = [], count = 1 } = command;
    const room = limits.messages - this.#host.recorder.count;
    if (count > room) throw new Misread(`${limits.messages} messages are the most here, and there is room for ${room}`);
    if (this.#published + count > limits.published)
      throw new Misread(`${limits.published} messages are the most that are published here`);
    this.#published += count;
    const notes = cc.length + bcc.length === 0 ? undefined : Notes.of({ cc, bcc }, undefined, undefined, 0);
    const properties = propertiesOf(command);
    this.#brief((channel) => {
      for (const body of bodiesOf(command)) {
        const bytes = Buffer.from(body);
        const message = messageOf(exchange, key, properties, bytes, notes);
        this.#host.recorder.publish(message, () => channel.publish(exchange, key, properties, bytes));
        this.#host.settle();
        if (this.stopped !== undefined) return;
        if (this.#host.recorder.copies > limits.copies)
          return this.#host.stop(`${limits.copies} copies are the most here`);
      }
    });
  }

  #open(name: string, queue?: string, prefetch = 0, noAck = false): Client {
    const cancelled = (): void => this.#cancelled(name);
    const channel = this.#host.broker.connect().openChannel({
      deliver: (delivery) => this.#hold(name, client, delivery, noAck),
      cancelled,
      closed: cancelled,
      returned() {},
      confirmed() {},
    });
    const client: Client = { channel, queue, prefetch, held: [] };
    return client;
  }

  #hold(
    consumer: string,
    { held }: Client,
    { deliveryTag: tag, message, redelivered, queue, body }: Omit<Delivery, 'consumerTag'>,
    noAck = false,
  ): void {
    const place = this.#host.recorder.takeHanded(queue, body);
    this.#emit({ kind: 'delivered', ...place, consumer, redelivered });
    if (noAck) this.#emit({ kind: 'acked', ...place, consumer });
    else held.push({ tag, place, message, redelivered });
  }

  #consume({ consumer, queue, prefetch = 1, noAck = false }: Consume): void {
    if (consumer === getter || this.#clients.has(consumer))
      throw new AmqpError('NOT_ALLOWED', `there is a consumer '${consumer}' already`);
    const client = this.#open(consumer, queue, prefetch, noAck);
    client.channel.qos(prefetch);
    client.channel.consume(queue, { consumerTag: consumer, noAck });
    this.#clients.set(consumer, client);
  }

  #get(queue: string): void {
    const client = this.#clients.get(getter) ?? this.#open(getter);
    // A refusal ends its channel, and what it holds returns.
    this.#clients.delete(getter);
    const got = client.channel.get(queue);
    this.#clients.set(getter, client);
    if (got !== undefined) this.#hold(getter, client, got);
  }

  /** Its connection ends: what it holds returns to the queue. */
  #cancel(consumer: string): void {
    const client = this.#clients.get(consumer);
    if (client === undefined) throw new AmqpError('NOT_FOUND', `there is no consumer '${consumer}'`);
    this.#cancelled(consumer);
    client.channel.connection.close();
  }

  #cancelled(consumer: string): void {
    if (this.#clients.delete(consumer)) this.#emit({ kind: 'cancelled', consumer });
  }

  #settle({ do: how, consumer, held: index = 0, requeue = false }: Settle): void {
    const client = this.#clients.get(consumer);
    const held = client?.held[index];
    if (client === undefined || held === undefined)
      throw new AmqpError('PRECONDITION_FAILED', `'${consumer}' holds no message number ${index}`);
    client.held = client.held.filter((each) => each !== held);
    const { channel } = client;
    if (how === 'ack') this.#emit({ kind: 'acked', ...held.place, consumer });
    if (how === 'ack') channel.ack(held.tag);
    else if (how === 'nack') channel.nack(held.tag, false, requeue);
    else channel.reject(held.tag, requeue);
  }

  #bind(how: 'bind' | 'unbind', binding: BindingDefinition): void {
    const { source, destination, destination_type: type, routing_key: key = '', arguments: table } = binding;
    this.#brief((channel) =>
      channel[`${how}${type === 'exchange' ? 'Exchange' : 'Queue'}`](destination, source, key, tableOf(table)),
    );
  }

  /** On a connection of its own. */
  #brief(run: (channel: Channel) => unknown, user?: string): void {
    const connection = this.#host.broker.connect(user === undefined ? {} : { user });
    try {
      run(connection.openChannel(silentOutbox));
    } finally {
      connection.close();
    }
  }

  #emit(event: NewEvent): void {
    this.#events.push({ ...event, number: ++this.#lastEvent, at: this.now });
    if (this.#events.length > limits.events) this.#events.splice(0, limits.events / 4);
  }

  #since(number: number): readonly WorldEvent[] {
    return this.#events.filter((event) => event.number > number);
  }
}

const refusals = [AmqpError, PolicyError, PatternError, Misread, TypeError];
