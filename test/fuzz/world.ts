import type { Field } from '../../libs/dlx-broker/src/engine/message/index.js';
import { attempt } from '../contract/contract.js';
import type { Received, TestChannel, TestConsumer, TestPolicy } from '../contract/driver.js';
import { Failure } from '../contract/failure.js';
import { normalForm, type NormalForm, type Viewpoint } from '../contract/normal-form.js';
import { plainValues, propertiesOf, tableOf } from './plain-values.js';
import type { DeliveryName, Step } from './program.js';
import { type Slot, unused } from './slot.js';

/** The names in a BCC header, if there is one. */
const keysOf = (copies: Field | undefined): string[] =>
  copies?.type === 'A' ? copies.value.flatMap((key) => (key.type === 'S' ? key.value : [])) : [];

/** The broker under a world. */
export interface Ground extends Viewpoint {
  channel(): Promise<TestChannel>;
  setPolicy(name: string, operator: boolean, policy: TestPolicy): Promise<void>;
  clearPolicy(name: string, operator: boolean): Promise<void>;
}

/** What clients can see at one moment. */
export interface Seen {
  /** The result of the last step. */
  readonly outcome: unknown;
  /** Ready messages and consumers, or `gone`. */
  readonly queues: Readonly<Record<string, string>>;
  /** All deliveries, by consumer. */
  readonly deliveries: Readonly<Record<string, readonly unknown[]>>;
  readonly confirms: readonly unknown[];
  readonly returns: readonly unknown[];
}

interface Source {
  readonly channel: number;
  readonly generation: number;
  readonly queue: string;
  readonly noAck: boolean;
  /** 0 when there is no limit. */
  readonly prefetch: number;
  readonly messages: readonly Received[];
  readonly consumer: TestConsumer | undefined;
  /** The step in which each message was delivered. */
  readonly steps: number[];
}

export interface HeldDelivery extends DeliveryName {
  readonly channel: number;
  readonly tag: number;
  readonly queue: string;
  /** The step in which it was delivered. */
  readonly step: number;
}

export interface RunningConsumer {
  readonly name: string;
  readonly channel: number;
  readonly queue: string;
  readonly prefetch: number;
  /** The limit it shares with all consumers of its channel; 0 when there is none. */
  readonly shared: number;
  readonly noAck: boolean;
}

/** The clients of one program on one broker, and what they have seen. */
export class World {
  readonly #ground: Ground;
  readonly #unit: number;
  readonly #slots: Slot[] = [];
  readonly #sources = new Map<string, Source>();
  readonly #watched = new Set<string>();
  /** Watched ones that were found missing and not declared since. */
  readonly #gone = new Set<string>();
  /** Queues once declared as quorum queues. */
  readonly #normal = new WeakMap<object, NormalForm>();
  readonly #confirming = new Set<number>();
  /** The names of all BCC headers so far. */
  readonly copied = new Set<string>();
  #observer: TestChannel | undefined;
  /** Counts the steps. */
  #step = 0;
  #outcome: unknown = 'ok';

  constructor(ground: Ground, unit: number) {
    this.#ground = ground;
    this.#unit = unit;
  }

  /** Opens the channels. */
  async begin(channels: number): Promise<void> {
    for (let index = 0; index < channels; index++) {
      const channel = await this.#ground.channel();
      this.#slots.push({ ...unused(), channel, generation: 0, settled: new Set() });
    }
    this.#observer = await this.#ground.channel();
  }

  /** Performs a step. Its result is part of the next view. A channel that the broker closed is opened again. */
  async perform(step: Step): Promise<void> {
    this.#outcome = await outcomeOf(this.#do(step));
    this.#step++;
    for (const { messages, steps } of this.#sources.values())
      while (steps.length < messages.length) steps.push(this.#step);
    if ('channel' in step && isFailure(this.#outcome)) await this.#reopen(step.channel);
    if (step.do === 'drain' && isFailure(this.#outcome)) this.#observer = await this.#ground.channel();
  }

  async observe(): Promise<Seen> {
    const queues = await this.#counts();
    const deliveries: Record<string, readonly unknown[]> = {};
    for (const [name, { messages, consumer }] of this.#sources) {
      if (consumer === undefined) continue;
      deliveries[name] = [
        ...messages.map((message) => this.#seen(message)),
        ...(consumer.cancelled ? ['cancelled'] : []),
      ];
    }
    return {
      outcome: this.#outcome,
      queues,
      deliveries,
      confirms: [...this.#confirming].map((index) => this.#slots[index]?.channel.confirms()),
      returns: this.#slots.map(({ channel }) =>
        channel.returns.map(({ code, text, ...message }) => ({ code, text, ...this.#seen(message as Received) })),
      ),
    };
  }

  /** Whether the last step was answered by the end of the connection. */
  get isCutOff(): boolean {
    return isFailure(this.#outcome) && (this.#outcome as { closes: unknown }).closes === 'connection';
  }

  /** The unacknowledged deliveries of a channel, in the order of their tags. */
  held(channel: number): HeldDelivery[] {
    const slot = this.#slots[channel] as Slot;
    const held: HeldDelivery[] = [];
    for (const [of, source] of this.#sources) {
      if (source.channel !== channel || source.generation !== slot.generation || source.noAck) continue;
      for (const [nth, { deliveryTag: tag }] of source.messages.entries()) {
        if (!slot.settled.has(tag))
          held.push({ of, nth, channel, tag, queue: source.queue, step: source.steps[nth] ?? 0 });
      }
    }
    return held.sort((a, b) => a.tag - b.tag);
  }

  isTransactional(channel: number): boolean {
    return (this.#slots[channel] as Slot).transaction !== undefined;
  }

  /** Whether a transaction of this channel holds a nack or a reject. */
  holdsRejection(channel: number): boolean {
    return [...((this.#slots[channel] as Slot).transaction?.values() ?? [])].some((how) => how !== 'ack');
  }

  /** Whether a transaction of any channel holds a publish. */
  get holdsPublish(): boolean {
    return this.#slots.some((slot) => slot.holdsPublish);
  }

  /** The limit all consumers of a channel share; 0 when there is none. */
  sharedLimit(channel: number): number {
    return (this.#slots[channel] as Slot).shared;
  }

  /** How often a channel was replaced by a new one. */
  generation(channel: number): number {
    return (this.#slots[channel] as Slot).generation;
  }

  /** Running consumers, by name. */
  consumers(): RunningConsumer[] {
    return [...this.#sources].flatMap(([name, { consumer, channel, generation, queue, prefetch, noAck }]) =>
      consumer !== undefined &&
      !consumer.cancelled &&
      !this.#ended.has(name) &&
      generation === this.#slots[channel]?.generation
        ? [{ name, channel, queue, prefetch, shared: this.sharedLimit(channel), noAck }]
        : [],
    );
  }

  readonly #ended = new Set<string>();

  async #do(step: Step): Promise<unknown> {
    if (step.do === 'setPolicy') {
      const { name, operator, pattern, applyTo, priority } = step;
      const definition = plainValues(step.definition, this.#unit);
      return this.#ground.setPolicy(name, operator, { pattern, applyTo, priority, definition });
    }
    if (step.do === 'clearPolicy') return this.#ground.clearPolicy(step.name, step.operator);
    if (step.do === 'drain') return this.#drain(step.queue);
    if (step.do === 'elapse') return undefined;
    return this.#onChannel(step, this.#slots[step.channel] as Slot);
  }

  async #onChannel(step: Extract<Step, { channel: number }>, slot: Slot): Promise<unknown> {
    const { channel } = slot;
    switch (step.do) {
      case 'declareExchange':
        return channel.declareExchange(step.name, step.type, {
          ...step.flags,
          arguments: tableOf(this.#unit, step.args),
        });
      case 'declareQueue': {
        this.#gone.delete(step.name);
        const ok = await channel.declareQueue(step.name, { ...step.flags, arguments: tableOf(this.#unit, step.args) });
        if (!('x-expires' in step.args)) this.#watched.add(step.name); // rule B12: looking would keep it alive
        return ok;
      }
      case 'bindQueue':
      case 'unbindQueue':
      case 'bindExchange':
      case 'unbindExchange':
        return channel[step.do](step.to, step.from, step.key, tableOf(this.#unit, step.args));
      case 'deleteExchange':
        return channel.deleteExchange(step.name, step.flags);
      case 'deleteQueue':
        return await channel.deleteQueue(step.name, step.flags);
      case 'purge':
        return await channel.purgeQueue(step.name);
      case 'confirmSelect':
        this.#confirming.add(step.channel);
        return channel.confirmSelect();
      case 'txSelect':
        slot.transaction ??= new Map();
        return channel.txSelect();
      case 'txCommit':
        slot.transaction?.clear();
        slot.holdsPublish = false;
        return channel.txCommit();
      case 'txRollback':
        for (const tag of slot.transaction?.keys() ?? []) slot.settled.delete(tag);
        slot.transaction?.clear();
        slot.holdsPublish = false;
        return channel.txRollback();
      case 'qos':
        if (step.global) slot.shared = step.prefetch;
        else [slot.prefetch, slot.shared] = [step.prefetch, 0];
        return channel.qos(step.prefetch, { global: step.global });
      case 'publish':
        slot.holdsPublish ||= slot.transaction !== undefined;
        for (const name of keysOf(step.sent.headers?.['BCC'])) this.copied.add(name);
        return Promise.all(
          step.bodies.map((body) =>
            channel.publish(step.exchange, step.key, {
              body,
              mandatory: step.mandatory,
              properties: propertiesOf(step.sent, this.#unit),
            }),
          ),
        ).then(() => undefined);
      case 'get': {
        const message = await channel.get(step.queue, { noAck: step.noAck });
        this.#source(step.as, step, message === undefined ? [] : [message], undefined);
        return message === undefined ? 'empty' : { ...this.#seen(message), left: message.messageCount };
      }
      case 'consume': {
        if (step.prefetch !== undefined) {
          [slot.prefetch, slot.shared] = [step.prefetch, 0];
          await channel.qos(step.prefetch);
        }
        const options = { tag: step.as, noAck: step.noAck, arguments: tableOf(this.#unit, step.args) };
        const consumer = await channel.consume(step.queue, options);
        return this.#source(step.as, { ...step, prefetch: slot.prefetch }, consumer.messages, consumer);
      }
      case 'cancel':
        this.#ended.add(step.consumer);
        return channel.cancel(step.consumer);
      case 'settle':
        return this.#settle(step, slot);
      case 'recover':
        for (const { tag } of this.held(step.channel)) slot.settled.add(tag);
        return channel.recover(true);
      case 'close':
        await channel.close();
        return this.#reopen(step.channel);
    }
  }

  async #settle(step: Extract<Step, { do: 'settle' }>, slot: Slot): Promise<unknown> {
    const { how, multiple, requeue, delivery } = step;
    const tag = this.#sources.get(delivery.of)?.messages[delivery.nth]?.deliveryTag;
    if (tag === undefined || this.#sources.get(delivery.of)?.generation !== slot.generation) return 'not there';
    for (const held of this.held(step.channel))
      if (held.tag === tag || (multiple && held.tag < tag)) {
        slot.settled.add(held.tag);
        slot.transaction?.set(held.tag, how);
      }
    if (how === 'ack') return slot.channel.ack(tag, multiple);
    if (how === 'reject') return slot.channel.reject(tag, requeue);
    return slot.channel.nack(tag, { multiple, requeue });
  }

  async #drain(queue: string): Promise<unknown> {
    const observer = this.#observer as TestChannel;
    const messages: unknown[] = [];
    for (;;) {
      const message = await observer.get(queue, { noAck: true });
      if (message === undefined) return messages;
      messages.push(this.#seen(message));
    }
  }

  async #counts(): Promise<Record<string, string>> {
    const names = [...this.#watched].sort();
    const counts = names.map((name) => (this.#gone.has(name) ? 'gone' : this.#count(name)));
    try {
      return Object.fromEntries((await Promise.all(counts)).map((count, index) => [names[index] as string, count]));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await Promise.allSettled(counts);
    }
    // A queue is missing, which closed the channel: ask again, for one queue at a time.
    for (const name of names) {
      if (this.#gone.has(name)) continue;
      this.#observer = await this.#ground.channel();
      await this.#count(name).catch(() => this.#gone.add(name));
    }
    this.#observer = await this.#ground.channel();
    return this.#counts();
  }

  async #count(queue: string): Promise<string> {
    const { messageCount, consumerCount } = await (this.#observer as TestChannel).declareQueue(queue, {
      passive: true,
    });
    return `${messageCount} ready, ${consumerCount} consumers`;
  }

  async #reopen(index: number): Promise<void> {
    const slot = this.#slots[index] as Slot;
    slot.channel = await this.#ground.channel();
    slot.generation++;
    slot.settled.clear();
    Object.assign(slot, unused());
    this.#confirming.delete(index);
  }

  #source(
    name: string,
    step: { channel: number; queue: string; noAck: boolean; prefetch?: number },
    messages: readonly Received[],
    consumer: TestConsumer | undefined,
  ): void {
    const { channel, queue, noAck, prefetch = 0 } = step;
    const { generation } = this.#slots[channel] as Slot;
    this.#sources.set(name, { channel, generation, queue, noAck, prefetch, messages, consumer, steps: [] });
  }

  #seen(message: Received): NormalForm {
    let form = this.#normal.get(message);
    if (form === undefined) this.#normal.set(message, (form = normalForm(this.#ground, message)));
    return form;
  }
}

/** The answer, or the error as data. */
async function outcomeOf(action: Promise<unknown>): Promise<unknown> {
  let answer: unknown;
  const failure = await attempt(action.then((value) => void (answer = value)));
  return failure === 'ok' ? (answer ?? 'ok') : failure;
}

const isFailure = (outcome: unknown): boolean => typeof outcome === 'object' && outcome !== null && 'closes' in outcome;
