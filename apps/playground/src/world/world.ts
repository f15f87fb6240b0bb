import {
  AmqpError,
  Broker,
  type Channel,
  inRestoreOrder,
  isPersistent,
  PatternError,
  PolicyError,
  type ProfileName,
} from '../../../../libs/dlx-broker/src/engine/broker/index.js';
import {
  type Field,
  longstr,
  type Message,
  messageOf,
  Notes,
  type Properties,
} from '../../../../libs/dlx-broker/src/engine/message/index.js';
import { CountedNames } from '../../../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { policyPatterns } from '../../../../libs/dlx-broker/src/platform/patterns.js';
import { type Command, maxCommands, type Publish, type Settle } from './command.js';
import type { NewEvent, Place, WorldEvent } from './event.js';
import { type Kept, Recorder } from './recorder.js';
import { type ConsumerState, messageState, type MessageState, type State, stateOf } from './state.js';
import {
  type BindingDefinition,
  type ExchangeDefinition,
  Misread,
  type PolicyDefinition,
  type QueueDefinition,
  readTopology,
  tableOf,
  type Topology,
} from './topology.js';

export interface Setup {
  readonly topology: Topology;
  readonly profile: ProfileName;
}

/** What a world does at most, so that no topology hangs the page. */
export const limits = { messages: 10_000, events: 2_000, stepsOfTurn: 2_000, turns: 100, wakeUps: 20_000, ms: 1e12 };

/** Under this name is held what `get` took. */
export const getter = 'get';

type Permit = Extract<Command, { readonly do: 'permissions' }>;

interface Held {
  readonly tag: number;
  readonly place: Place;
  readonly message: Message;
  readonly redelivered: boolean;
}

/** A client of its own: one channel, with one consumer at most. */
interface Client {
  readonly channel: Channel;
  readonly queue?: string;
  readonly prefetch: number;
  readonly noAck: boolean;
  held: Held[];
}

/** A broker with one virtual host, in virtual time, which a reader commands. Everything is deterministic. */
export class World {
  readonly #setup: Setup;
  readonly #clock = new ManualClock();
  readonly #start = this.#clock.now();
  readonly #names = new CountedNames();
  readonly #clients = new Map<string, Client>();
  readonly #events: WorldEvent[] = [];
  readonly #commands: Command[] = [];
  readonly #permissions = new Map<string, Permit>();
  #recorder: Recorder;
  #broker: Broker;
  #turns: (() => void)[] = [];
  #lastEvent = 0;
  #stopped: string | undefined;

  /** @throws Misread when the topology is wrong, or RabbitMQ would refuse it */
  constructor(setup: Setup) {
    this.#setup = { ...setup, topology: readTopology(setup.topology) };
    this.#recorder = this.#makeRecorder();
    this.#broker = this.#makeBroker();
    const { exchanges = [], queues = [], bindings = [], policies = [] } = this.#setup.topology;
    const each = <T>(part: string, list: readonly T[], declare: (one: T) => void): void =>
      list.forEach((one, index) => {
        try {
          declare(one);
          this.#settle();
        } catch (error) {
          throw new Misread(`${part}[${index}]: ${textOf(error)}`);
        }
      });
    each('exchanges', exchanges, (exchange) => this.#declareExchange(exchange));
    each('queues', queues, (queue) => this.#declareQueue(queue));
    each('bindings', bindings, (binding) => this.#bind('bind', binding));
    each('policies', policies, (policy) => this.#setPolicy(policy));
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

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#clock.now() - this.#start;
  }

  get setup(): Setup {
    return this.#setup;
  }

  /** What was done so far, `advance` as `wait`: with {@link setup} it is the whole world. */
  get commands(): readonly Command[] {
    return this.#commands;
  }

  /** The last {@link limits} events, the oldest first. */
  get events(): readonly WorldEvent[] {
    return this.#events;
  }

  /** Why nothing happens any more: a limit of the world is reached. Undefined while it goes on. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  get state(): State {
    const now = this.#clock.now();
    const consumers = [...this.#clients].map(([name, { queue, prefetch, held }]): ConsumerState => ({
      name,
      ...(queue === undefined ? {} : { queue }),
      prefetch,
      held: held.map(({ message, place, redelivered }): MessageState =>
        messageState(message, place, redelivered, 0, now),
      ),
    }));
    return { now: this.now, ...stateOf(this.#broker, this.#recorder), consumers };
  }

  /** Milliseconds until something happens by itself; undefined if nothing will. */
  nextEvent(): number | undefined {
    const next = this.#stopped === undefined ? this.#clock.nextWakeUp() : undefined;
    return next === undefined ? undefined : Math.max(0, next - this.#clock.now());
  }

  /** Lets time pass: whole milliseconds. @returns what happened */
  advance(ms: number): readonly WorldEvent[] {
    const before = this.#lastEvent;
    if (this.#stopped !== undefined || !(ms > 0 && ms <= limits.ms)) return [];
    const last = this.#commands.at(-1);
    const began = this.now;
    const end = this.#clock.now() + Math.floor(ms);
    for (let steps = 0; this.#clock.step(end); steps++) {
      this.#settle();
      if (steps >= limits.wakeUps)
        this.#emit({ kind: 'stopped', text: `more than ${limits.wakeUps} things happen in this time: it ends early` });
      if (steps >= limits.wakeUps || this.#stopped !== undefined) break;
    }
    const passed = this.now - began;
    if (last?.do === 'wait') this.#commands[this.#commands.length - 1] = { do: 'wait', ms: last.ms + passed };
    else this.#commands.push({ do: 'wait', ms: passed });
    return this.#since(before);
  }

  /**
   * Does what the reader wants. What RabbitMQ refuses is an event `refused`.
   * @returns what happened
   */
  run(command: Command): readonly WorldEvent[] {
    if (command.do === 'wait') return this.advance(command.ms);
    const before = this.#lastEvent;
    if (this.#stopped !== undefined) return [];
    if (this.#commands.length >= maxCommands) {
      this.#stop(`${maxCommands} commands are the most`);
      return this.#since(before);
    }
    this.#commands.push(command);
    try {
      this.#do(command);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const code = error instanceof AmqpError ? error.code : 400;
      this.#emit({ kind: 'refused', command, code, text: textOf(error) });
    }
    this.#settle();
    return this.#since(before);
  }

  #do(command: Exclude<Command, { do: 'wait' }>): void {
    switch (command.do) {
      case 'publish':
        return this.#publish(command);
      case 'consume':
        return this.#consume(command.consumer, command.queue, command.prefetch ?? 1, command.noAck ?? false);
      case 'cancel':
        return this.#cancel(command.consumer);
      case 'get':
        return this.#get(command.queue);
      case 'ack':
      case 'reject':
      case 'nack':
        return this.#settleOne(command);
      case 'declare-exchange':
        return this.#declareExchange(command.exchange, command.user);
      case 'delete-exchange':
        return this.#brief((channel) => channel.deleteExchange(command.exchange));
      case 'declare-queue':
        return this.#declareQueue(command.queue, command.user);
      case 'delete-queue':
        return this.#brief((channel) => channel.deleteQueue(command.queue));
      case 'bind':
      case 'unbind':
        return this.#bind(command.do, command.binding);
      case 'policy':
        return this.#setPolicy(command.policy);
      case 'clear-policy':
        if (this.#vhost.deletePolicy(command.name)) return;
        throw new AmqpError('NOT_FOUND', `no policy '${command.name}'`);
      case 'permissions':
        return this.#permit(command);
      case 'purge':
        return this.#brief((channel) =>
          this.#emit({ kind: 'purged', queue: command.queue, count: channel.purgeQueue(command.queue) }),
        );
      case 'restart':
        return this.#restart();
    }
  }

  get #vhost() {
    return this.#broker.virtualHost('/');
  }

  #publish({ exchange = '', key, body = '', count = 1, ...options }: Publish): void {
    const room = limits.messages - this.#recorder.count;
    if (count > room) throw new Misread(`${limits.messages} messages are the most here, and there is room for ${room}`);
    const { cc = [], bcc = [], persistent = true, headers, expiration, priority } = options;
    const table = new Map<string, Field>(tableOf(headers));
    if (cc.length > 0) table.set('CC', { type: 'A', value: cc.map(longstr) });
    if (bcc.length > 0) table.set('BCC', { type: 'A', value: bcc.map(longstr) });
    const properties: Properties = {
      ...(table.size === 0 ? {} : { headers: table }),
      deliveryMode: persistent ? 2 : 1,
      expiration,
      priority,
    };
    const notes = cc.length + bcc.length === 0 ? undefined : Notes.of({ cc, bcc }, undefined, undefined, 0);
    this.#brief((channel) => {
      for (let index = 1; index <= count; index++) {
        const bytes = Buffer.from(count === 1 ? body : `${body} ${index}`.trim());
        const message = messageOf(exchange, key, properties, bytes, notes);
        this.#recorder.publish(message, () => channel.publish(exchange, key, properties, bytes));
        this.#settle();
        if (this.#stopped !== undefined) return;
      }
    });
  }

  #client(name: string, queue: string | undefined, prefetch: number, noAck: boolean): Client {
    const channel = this.#broker.connect().openChannel({
      deliver: ({ deliveryTag: tag, redelivered, message, body, queue: from }) => {
        const place = this.#recorder.takeHanded(from, body);
        this.#emit({ kind: 'delivered', ...place, consumer: name, redelivered });
        if (noAck) this.#emit({ kind: 'acked', ...place, consumer: name });
        else client.held.push({ tag, place, message, redelivered });
      },
      cancelled: () => this.#cancelled(name),
      closed: () => this.#cancelled(name),
      returned() {},
      confirmed() {},
    });
    const client: Client = { channel, prefetch, noAck, held: [], ...(queue === undefined ? {} : { queue }) };
    this.#clients.set(name, client);
    return client;
  }

  #consume(name: string, queue: string, prefetch: number, noAck: boolean): void {
    if (name === getter || this.#clients.has(name)) throw new AmqpError('NOT_ALLOWED', `the consumer '${name}' exists`);
    const { channel } = this.#client(name, queue, prefetch, noAck);
    try {
      channel.qos(prefetch);
      channel.consume(queue, { consumerTag: name, noAck });
    } catch (error) {
      this.#clients.delete(name);
      throw error;
    }
  }

  /** Its connection ends: what it holds returns to the queue. */
  #cancel(name: string): void {
    const client = this.#clients.get(name);
    if (client === undefined) throw new AmqpError('NOT_FOUND', `no consumer '${name}'`);
    this.#clients.delete(name);
    client.channel.connection.close();
    this.#emit({ kind: 'cancelled', consumer: name });
  }

  #cancelled(name: string): void {
    if (this.#clients.delete(name)) this.#emit({ kind: 'cancelled', consumer: name });
  }

  #get(queue: string): void {
    const client = this.#clients.get(getter) ?? this.#client(getter, undefined, 0, false);
    const got = this.#refusing(getter, () => client.channel.get(queue));
    if (got === undefined) return;
    const { deliveryTag: tag, message, body, redelivered } = got;
    const place = this.#recorder.takeHanded(queue, body);
    this.#emit({ kind: 'delivered', ...place, consumer: getter, redelivered });
    client.held.push({ tag, place, message, redelivered });
  }

  #settleOne({ do: how, consumer, held: index = 0, requeue = false }: Settle): void {
    const client = this.#clients.get(consumer);
    const held = client?.held[index];
    if (client === undefined || held === undefined)
      throw new AmqpError('PRECONDITION_FAILED', `'${consumer}' holds no message number ${index}`);
    client.held = client.held.filter((each) => each !== held);
    const { channel } = client;
    if (how === 'ack') {
      this.#emit({ kind: 'acked', ...held.place, consumer });
      channel.ack(held.tag);
    } else if (how === 'nack') channel.nack(held.tag, false, requeue);
    else channel.reject(held.tag, requeue);
  }

  #declareExchange(
    { name, type, durable = true, auto_delete, internal, arguments: table }: ExchangeDefinition,
    user?: string,
  ): void {
    const options = {
      type,
      durable,
      autoDelete: auto_delete ?? false,
      internal: internal ?? false,
      arguments: tableOf(table),
    };
    this.#brief((channel) => channel.declareExchange(name, options), user);
  }

  #declareQueue({ name, durable = true, auto_delete, arguments: table }: QueueDefinition, user?: string): void {
    const options = { durable, autoDelete: auto_delete ?? false, arguments: tableOf(table) };
    this.#brief((channel) => channel.declareQueue(name, options), user);
  }

  #bind(how: 'bind' | 'unbind', binding: BindingDefinition): void {
    const { source, destination, destination_type = 'queue', routing_key = '', arguments: table } = binding;
    const kind = destination_type === 'queue' ? 'Queue' : 'Exchange';
    this.#brief((channel) => channel[`${how}${kind}`](destination, source, routing_key, tableOf(table)));
  }

  #setPolicy({ name, pattern, definition, 'apply-to': applyTo = 'all', priority = 0 }: PolicyDefinition): void {
    this.#vhost.setPolicy(name, { pattern, definition, applyTo, priority });
  }

  #permit(command: Permit): void {
    const { access } = this.#broker;
    access.setUser(command.user);
    access.setPermissions(command.user, '/', command);
    this.#permissions.set(command.user, command);
  }

  /** On a connection of its own. */
  #brief(run: (channel: Channel) => unknown, user?: string): void {
    const connection = this.#broker.connect(user === undefined ? {} : { user });
    try {
      run(connection.openChannel({ deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} }));
    } finally {
      connection.close();
    }
  }

  /** A refusal ends the channel, and with it the client. */
  #refusing<T>(name: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      this.#cancelled(name);
      throw error;
    }
  }

  /** Ends all connections; durable things and the messages that RabbitMQ keeps are there again afterwards. */
  #restart(): void {
    for (const name of this.#clients.keys()) this.#emit({ kind: 'cancelled', consumer: name });
    this.#clients.clear();
    const [broker, before, { kept }] = [this.#broker, this.#vhost, this.#recorder];
    this.#recorder = this.#makeRecorder(this.#recorder);
    this.#broker = this.#makeBroker();
    const release = this.#broker.hold();
    const now = this.#clock.now();
    const after = this.#vhost;
    for (const permissions of this.#permissions.values()) this.#permit(permissions);
    for (const policy of before.policies.user.list()) after.setPolicy(policy.name, policy);
    for (const { declared } of before.exchanges.values())
      if (declared.durable && !after.exchanges.has(declared.name)) after.addExchange(declared);
    for (const { declared } of before.queues.values()) if (declared.durable) after.addQueue(declared, now);
    for (const source of before.exchanges.values())
      for (const { destination, bindingKey, arguments: table } of source.bindings()) {
        const isQueue = before.queues.get(destination.name) === destination;
        const target = (isQueue ? after.queues : after.exchanges).get(destination.name);
        if (target !== undefined) after.exchanges.get(source.name)?.bind(target, bindingKey, table);
      }
    let lost = 0;
    for (const [name, entries] of kept) lost += entries.size - this.#restore(name, [...entries.values()]);
    broker.close();
    release();
    this.#emit({ kind: 'restarted', lost });
  }

  /** @returns how many messages the queue has again */
  #restore(name: string, all: readonly Kept[]): number {
    const queue = this.#vhost.queues.get(name);
    if (queue === undefined) return 0;
    const stays = all.filter(({ entry }) => isPersistent(queue.declared, entry.message));
    const parts = {
      fresh: stays.filter(({ held, entry }) => !held && !entry.redelivered),
      returned: stays.filter(({ held, entry }) => !held && entry.redelivered),
      held: stays.filter(({ held }) => held),
    };
    for (const kept of inRestoreOrder(queue.declared, parts).flat()) {
      const { message, position, deadline, returns, failures, due } = kept.entry;
      const place = { position, deadline, returns, failures, due, delivered: kept.held, death: kept.death };
      this.#recorder.restored(kept, queue.restore(message, place, this.#clock.now()));
    }
    return stays.length;
  }

  /** Only the recorder of the present broker reports: a broker that ends is silent. */
  #makeRecorder(before?: Recorder): Recorder {
    const recorder: Recorder = new Recorder((event) => void (this.#recorder === recorder && this.#emit(event)), before);
    return recorder;
  }

  #makeBroker(): Broker {
    const broker: Broker = new Broker({
      clock: this.#clock,
      names: this.#names,
      patterns: policyPatterns,
      rabbitmq: this.#setup.profile,
      journal: this.#recorder,
      pace: {
        budget: limits.stepsOfTurn,
        later: (resume) => void (broker === this.#broker && this.#turns.push(resume)),
      },
    });
    this.#recorder.watch(broker.virtualHost('/'));
    return broker;
  }

  /** Runs the turns that a command needs, up to a limit. */
  #settle(): void {
    for (let turns = 0; this.#turns.length > 0 && this.#stopped === undefined; turns++) {
      if (this.#recorder.count > limits.messages) return this.#stop(`${limits.messages} messages are the most here`);
      if (turns >= limits.turns)
        return this.#stop(`more than ${limits.turns * limits.stepsOfTurn} steps at one moment`);
      this.#turns.shift()?.();
    }
  }

  #stop(text: string): void {
    this.#stopped = text;
    this.#emit({ kind: 'stopped', text });
  }

  #emit(event: NewEvent): void {
    this.#events.push({ ...event, number: ++this.#lastEvent, at: this.now });
    if (this.#events.length > limits.events) this.#events.shift();
  }

  #since(number: number): readonly WorldEvent[] {
    return this.#events.filter((event) => event.number > number);
  }
}

const refusals = [AmqpError, PolicyError, PatternError, Misread, TypeError];

const isRefusal = (error: unknown): error is Error => refusals.some((refusal) => error instanceof refusal);

const textOf = (error: unknown): string => (error instanceof Error ? error.message.trim() : String(error));
