import type { Channel, Delivery, Journal, Pace, ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Entry, DelayedMessages, Queue } from '../../libs/dlx-broker/src/engine/broker/index.js';
import {
  type Field,
  type FieldTable,
  int32,
  longstr,
  type Message,
} from '../../libs/dlx-broker/src/engine/message/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { LateClock } from './late-clock.js';
import { channelCount, type Command } from './model/commands.js';
import type { Answer } from './model/step.js';
import { addressOf, settledBy } from './model/step.js';
import type { QueueSetup, Seen, World } from './model/world.js';

/** The engine, driven by commands as data, and what it shows of itself. */
export class EngineUnderTest {
  readonly clock = new LateClock();
  readonly broker: Broker;
  readonly seen: Seen[] = [];
  readonly confirmed = new Map<number, boolean>();
  /** Closed channels, the last ones perhaps with deliveries that are returned in turns. */
  readonly closed: Channel[] = [];
  readonly #channels: Channel[] = [];
  readonly #publisher: Channel;
  readonly #later: (() => void)[] = [];
  readonly #setups: readonly QueueSetup[];
  readonly #consumers: { readonly tag: string; readonly channel: number }[] = [];
  #published = 0;
  #consumed = 0;

  readonly #deliveryMode: number | undefined;

  /**
   * @param budget steps in one go; without one every command runs to its very end
   * @param journal with one, all messages are persistent
   */
  constructor(setups: readonly QueueSetup[], budget?: number, journal?: Journal, rabbitmq?: ProfileName) {
    this.#setups = setups;
    this.#deliveryMode = journal && 2;
    const pace: Pace | undefined =
      budget === undefined ? undefined : { budget, later: (resume) => void this.#later.push(resume) };
    const patterns = { compile: () => ({ matches: () => true }) };
    // With a budget, queues of a few messages are long, and most of their messages are rows.
    const packing = budget === undefined ? undefined : { from: 2, rows: 2 };
    const lent = {
      ...(pace && { pace }),
      ...(journal && { journal }),
      ...(packing && { packing }),
      ...(rabbitmq && { rabbitmq }),
    };
    this.broker = new Broker({ clock: this.clock, names: new CountedNames(), patterns, ...lent });
    this.#publisher = this.#open();
    this.#publisher.confirmSelect();
    this.#publisher.declareExchange('fan', { type: 'fanout', durable: true });
    const delayed = new Map([['x-delayed-type', longstr('fanout')]]);
    this.#publisher.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: delayed });
    for (let index = 0; index < channelCount; index++) this.#channels.push(this.#open());
  }

  /** Runs a command and all of its effects. */
  run(command: Command, world: World): Answer {
    const answer = this.#run(command, world);
    this.#settleDown();
    return 'id' in answer ? { ...answer, confirmed: this.confirmed.get(answer.id as number) } : answer;
  }

  /** Lets time pass, and calls the timers that are due unless all timers are late. */
  advanceTo(time: number, late: boolean): void {
    this.clock.pass(time);
    if (!late) this.clock.wake();
    this.#settleDown();
  }

  /** All queues, as {@link describeQueue} shows them. */
  describe(name: string): string | undefined {
    const queue = this.broker.virtualHost('/').queues.get(name);
    return queue && describeEngineQueue(queue);
  }

  /** What the delayed exchange holds, as {@link describeHeldBack} shows it. */
  describeHeldBack(): string {
    const { delayed } = this.broker.virtualHost('/').exchange('later');
    return heldIn(delayed!)
      .map((entry) => `${describeEngineMessage(entry.message)} due ${entry.due}`)
      .join('\n');
  }

  /** How many messages were published so far. */
  get published(): number {
    return this.#published;
  }

  /** Tags a client could settle now. */
  outstanding(channel: number): number[] {
    const tags: number[] = [];
    this.#channels[channel]!.receiver.settler.unacked.each(({ deliveryTag }) => void tags.push(deliveryTag));
    return tags;
  }

  unacked(channel: number): number {
    return this.#channels[channel]!.unackedCount;
  }

  #run(command: Command, world: World): Answer {
    const queues = this.broker.virtualHost('/').queues;
    switch (command.do) {
      case 'publish':
        return this.#publish(command);
      case 'get': {
        if (!queues.has(command.queue)) return {};
        const got = this.#channels[command.channel]!.get(command.queue, { noAck: command.noAck });
        if (got === undefined) return {};
        const { deliveryTag: tag, message, ...rest } = got;
        return { got: { ...rest, consumer: '', tag, message: describeEngineMessage(message) } };
      }
      case 'settle': {
        const last = settledBy(world, command).at(-1);
        if (last !== undefined) this.#settle(this.#channels[command.channel]!, last.tag, command);
        return {};
      }
      case 'recover':
        this.#channels[command.channel]!.recover(true);
        return {};
      case 'close':
        this.closed.push(this.#channels[command.channel]!);
        this.#channels[command.channel]!.close();
        this.#channels[command.channel] = this.#open();
        return {};
      case 'consume':
        return queues.has(command.queue) ? this.#consume(command) : {};
      case 'cancel': {
        const consumer = this.#consumers[command.pick % this.#consumers.length];
        if (consumer !== undefined) this.#channels[consumer.channel]!.cancel(consumer.tag);
        return { consumerTag: consumer?.tag ?? '' };
      }
      case 'withdraw': {
        const id = command.pick % (this.#published + 1);
        return { id, count: this.broker.virtualHost('/').cancelDelayed('later', String(id)) };
      }
      case 'purge':
        return queues.has(command.queue) ? { count: this.#publisher.purgeQueue(command.queue) } : {};
      case 'delete':
        return { count: this.#publisher.deleteQueue(command.queue) };
      case 'declare':
        return this.#declare(command.queue);
      case 'advance':
      case 'late':
        return {};
    }
  }

  #publish({ to, size, priority, ttl, delay }: Command & { do: 'publish' }): Answer {
    const id = ++this.#published;
    const [exchange, key] = addressOf(to);
    const headers = delay === undefined ? undefined : new Map([['x-delay', int32(delay)]]);
    const expiration = ttl === undefined ? undefined : String(ttl);
    const properties = { messageId: String(id), priority, expiration, headers, deliveryMode: this.#deliveryMode };
    this.#publisher.publish(exchange, key, properties, new Uint8Array(size));
    return { id };
  }

  #settle(channel: Channel, tag: number, { multiple, how }: Command & { do: 'settle' }): void {
    if (how === 'ack') channel.ack(tag, multiple);
    else if (multiple) channel.nack(tag, true, how === 'requeue');
    else channel.reject(tag, how === 'requeue');
  }

  #consume({ channel, queue, prefetch, noAck, priority }: Command & { do: 'consume' }): Answer {
    const consumerTag = `c${++this.#consumed}`;
    this.#consumers.push({ tag: consumerTag, channel });
    this.#channels[channel]!.qos(prefetch);
    const args = new Map([['x-priority', int32(priority)]]);
    this.#channels[channel]!.consume(queue, { consumerTag, noAck, arguments: args });
    return { consumerTag };
  }

  #declare(name: string): Answer {
    const setup = this.#setups.find((each) => each.name === name)!;
    const isNew = !this.broker.virtualHost('/').queues.has(name);
    const { messageCount } = this.#publisher.declareQueue(name, { durable: true, arguments: argumentsOf(setup) });
    if (isNew && setup.bound) for (const from of ['fan', 'later']) this.#publisher.bindQueue(name, from, '');
    return { count: messageCount };
  }

  #open(): Channel {
    return this.broker.connect().openChannel({
      deliver: (delivery) => void this.seen.push(seenOf(delivery)),
      returned() {},
      confirmed: (tag, multiple, ok) => {
        // A nack may have gone ahead of what waits for a journal.
        for (let each = multiple ? 1 : tag; each <= tag; each++) {
          if (!this.confirmed.has(each)) this.confirmed.set(each, ok);
        }
      },
      cancelled() {},
      closed: (error) => {
        throw error;
      },
    });
  }

  #settleDown(): void {
    for (let resume = this.#later.shift(); resume !== undefined; resume = this.#later.shift()) resume();
  }
}

function argumentsOf(setup: QueueSetup): FieldTable {
  const given: [string, string | number | undefined][] = [
    ['x-queue-type', setup.type],
    ['x-message-ttl', setup.ttl],
    ['x-max-length', setup.maxLength],
    ['x-max-length-bytes', setup.maxBytes],
    ['x-overflow', setup.overflow],
    ['x-max-priority', setup.maxPriority],
    ['x-delivery-limit', setup.deliveryLimit],
    ['x-dead-letter-exchange', setup.deadLetters?.exchange],
    ['x-dead-letter-routing-key', setup.deadLetters?.key],
  ];
  const table = new Map<string, Field>();
  for (const [name, value] of given) {
    if (value !== undefined) table.set(name, typeof value === 'string' ? longstr(value) : int32(value));
  }
  return table;
}

const seenOf = ({ queue, consumerTag, deliveryTag, redelivered, deliveryCount, message }: Delivery): Seen => ({
  queue,
  consumer: consumerTag,
  tag: deliveryTag,
  redelivered,
  deliveryCount,
  message: describeEngineMessage(message),
});

function describeEngineQueue(queue: Queue): string {
  const lines = [`${queue.name}: ${queue.unacked} unacked, ${queue.consumers.count} consumers, ${queue.bytes} bytes`];
  queue.peek(({ message, returns, deadline }) => {
    lines.push(`  ${describeEngineMessage(message)} returns ${returns} until ${deadline === 0 ? 'ever' : deadline}`);
  });
  return lines.join('\n');
}

/** What an exchange holds, what is due next first; due together, in the order it came. */
export function heldIn(delayed: DelayedMessages): Entry[] {
  const all: Entry[] = [];
  delayed.each((entry) => void all.push(entry));
  return all.sort((one, other) => one.due - other.due || one.position - other.position);
}

const text = (field: Field | undefined): string => String(field?.value);

/** The same words as the model's, read from the headers. */
export function describeEngineMessage({ exchange, routingKey, properties }: Message): string {
  const { headers, expiration, messageId } = properties;
  const deaths = headers?.get('x-death');
  const first = headers?.get('x-first-death-reason');
  return [
    `#${messageId} to '${exchange}' ${routingKey}`,
    expiration === undefined ? '' : `expires ${expiration}`,
    headers?.has('x-delay') === true ? `delay ${text(headers.get('x-delay'))}` : '',
    ...(deaths?.type === 'A' ? deaths.value : []).map((death) => {
      const entry = death.value as FieldTable;
      return `${text(entry.get('queue'))}/${text(entry.get('reason'))}/${text(entry.get('count'))}`;
    }),
    first === undefined
      ? ''
      : `${text(first)} ${text(headers?.get('x-first-death-queue'))} '${text(headers?.get('x-first-death-exchange'))}'`,
  ].join(' ');
}
