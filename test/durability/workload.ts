import {
  AmqpError,
  type Broker,
  type Channel,
  type ChannelOutbox,
} from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import type { Random } from '../fuzz/random.js';
import { bodyOf, messageIdOf } from './bodies.js';
import { describeProperties } from './describe-broker.js';
import { propertiesBy } from './differing-properties.js';
import { silent } from './harness.js';
import { Operator } from './operator.js';
import { pauseOrResume } from './pause-or-resume.js';
import { type Arguments, declarations, tableOf } from './queues-of-workload.js';

const names = Object.keys(declarations);
const why = new Map([['why', longstr('because')]]);
/** A transient queue, which a crash removes. */
const passing = 'passing';

/** The weights of commands, about a hundred in all. */
const usual = {
  publish: 44,
  get: 14,
  ack: 10,
  reject: 9,
  requeue: 4,
  consume: 2,
  cancel: 1,
  redrive: 3,
  delay: 4,
  withdraw: 1,
  transaction: 2,
  reopen: 1,
  purge: 1,
  delete: 1,
  declare: 2,
  bind: 1,
  unbind: 1,
  policy: 1,
  user: 1,
  virtualHost: 0.5,
  wait: 4,
  /** Off by default, because it changes the commands of each seed. */
  pause: 0,
  /** Off by default, too. */
  operate: 0,
} as const;
export type Deed = keyof typeof usual;
export type Weights = Readonly<Record<Deed, number>>;

export interface WorkloadOptions {
  readonly random: Random;
  readonly clock: ManualClock;
  /** Called for every confirm that is an ack. */
  readonly confirmed: (messageId: string) => void;
  /** Called when a delivery has another body than its message was published with. */
  readonly wrong?: (messageId: string) => void;
  /** Called with each answer to a command, and with each delivery. */
  readonly seen?: (text: string) => void;
  /** Messages are numbered from here on. */
  readonly firstNumber?: number;
  readonly weights?: Partial<Weights>;
}

/** A harness with clients that send random commands. */
export class Workload {
  readonly #broker: Broker;
  readonly #options: WorkloadOptions;
  readonly #weights: Weights;
  readonly #channels: Channel[] = [];
  readonly #consumers: { readonly channel: Channel; readonly tag: string }[] = [];
  #publisher: Channel;
  /** Unconfirmed messages, by the tag of their confirm. */
  #outstanding = new Map<number, string>();
  #number: number;
  readonly #operator: Operator;
  /** Redrives that moved a message, and of these the ones that kept the original. */
  readonly counts = { redriven: 0 };

  constructor(broker: Broker, options: WorkloadOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#weights = { ...usual, ...options.weights };
    this.#number = options.firstNumber ?? 1;
    this.#publisher = this.#openPublisher();
    this.#operator = new Operator(this.#vhost, options, () => messageIdOf(this.#number++, this.#size()));
    for (let count = 0; count < 3; count++) this.#channels.push(this.#open());
    this.#try(() => {
      if (this.#vhost.exchanges.has('fan')) return;
      this.#publisher.declareExchange('fan', { type: 'fanout', durable: true });
      for (const name of names) this.#declare(name);
      for (const name of ['dead', 'copies']) this.#publisher.bindQueue(name, 'fan', '');
      // The dead letters of either queue go to the queue with the original.
      this.#publisher.declareExchange('twins', { type: 'fanout', durable: true });
      for (const name of ['work', 'short', 'dead', 'passing']) this.#publisher.bindQueue(name, 'twins', '');
      this.#declareDelayed();
    });
  }

  /** The number of the next message. */
  get nextNumber(): number {
    return this.#number;
  }

  /** Sends a random command. */
  step(): void {
    this.#try(() => this.#do(this.#options.random.weighted(this.#weights)));
  }

  get #vhost() {
    return this.#broker.virtualHost('/');
  }

  /** A refusal closes the channel, and its client opens another one. */
  #try(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof AmqpError)) throw error;
      this.#options.seen?.(error.message);
    }
    if (this.#publisher.isClosed) this.#publisher = this.#openPublisher();
    this.#channels.forEach((channel, index) => {
      if (channel.isClosed) this.#channels[index] = this.#open();
    });
  }

  #do(deed: Deed): void {
    const { random, clock } = this.#options;
    const channel = random.pick(this.#channels);
    const name = random.pick(names);
    switch (deed) {
      case 'publish':
        for (let count = random.integer(1, 3); count > 0; count--) this.#publish(this.#publisher);
        return;
      case 'get':
        for (let count = random.integer(1, 3); count > 0; count--) {
          const got = channel.get(name, { noAck: random.chance(0.1) });
          const { messageId = '' } = got?.message.own ?? {};
          this.#options.seen?.(`got ${got?.deliveryTag} ${messageId} ${got?.redelivered} of ${name}`);
          this.#options.seen?.(got === undefined ? '' : describeProperties(got.message));
          if (got !== undefined && !bodyOf(messageId).equals(got.body)) this.#options.wrong?.(messageId);
        }
        return;
      case 'ack':
        return this.#settle(channel, (tag, multiple) => channel.ack(tag, multiple));
      case 'reject':
        return this.#settle(channel, (tag, multiple) =>
          random.chance(0.2) ? channel.reject(tag, false, why) : channel.nack(tag, multiple, false),
        );
      case 'requeue':
        return this.#settle(channel, (tag, multiple) =>
          random.chance(0.5) ? channel.nack(tag, multiple, true) : channel.reject(tag, true),
        );
      case 'consume':
        channel.qos(random.integer(1, 5));
        return void this.#consumers.push({ channel, tag: channel.consume(name, { noAck: random.chance(0.1) }) });
      case 'cancel': {
        const [consumer] = this.#consumers.splice(random.integer(0, Math.max(0, this.#consumers.length - 1)), 1);
        if (consumer !== undefined && !consumer.channel.isClosed) consumer.channel.cancel(consumer.tag);
        return;
      }
      case 'redrive':
        return this.#redrive();
      case 'delay':
        return this.#delay();
      case 'withdraw':
        if (random.chance(0.1)) return this.#declareDelayed();
        return this.#withdraw();
      case 'transaction':
        return this.#transaction();
      case 'reopen':
        return channel.close();
      case 'purge':
        return void channel.purgeQueue(name);
      case 'delete':
        channel.deleteQueue(name);
        return random.chance(0.5) ? this.#declare(name) : undefined;
      case 'declare':
        return this.#declare(name);
      case 'bind':
        return channel.bindQueue(name, 'fan', '', new Map([['n', int32(random.integer(1, 2))]]));
      case 'unbind':
        return channel.unbindQueue(name, 'fan', '', new Map([['n', int32(random.integer(1, 2))]]));
      case 'policy':
        return this.#policy(name);
      case 'user':
        return this.#user();
      case 'virtualHost':
        return this.#otherVirtualHost();
      case 'pause':
        return pauseOrResume(this.#vhost, name, random);
      case 'operate':
        return this.#operator.step(name);
      case 'wait':
        return clock.advance(random.integer(1, 30));
    }
  }

  #publish(channel: Channel): void {
    const { random } = this.#options;
    const messageId = messageIdOf(this.#number++, this.#size());
    const properties = propertiesBy(messageId, random);
    const [exchange, key] = random.chance(0.25) ? [random.pick(['fan', 'twins']), 'any'] : ['', random.pick(names)];
    const tag = channel.publish(exchange, key, properties, bodyOf(messageId));
    if (tag > 0) this.#outstanding.set(tag, messageId);
  }

  /** Declares the exchange again, if it exists: the messages that it holds are gone then. */
  #declareDelayed(): void {
    const routesAs = tableOf({ 'x-delayed-type': 'direct' });
    if (this.#vhost.exchanges.has('later')) this.#publisher.deleteExchange('later');
    this.#publisher.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: routesAs });
    for (const name of ['work', 'agreed', 'copies']) this.#publisher.bindQueue(name, 'later', 'any');
  }

  #delay(): void {
    const { random } = this.#options;
    const messageId = messageIdOf(this.#number++, this.#size());
    const headers = new Map<string, Field>([['x-delay', int32(random.integer(1, 60))]]);
    const properties = { messageId, deliveryMode: random.chance(0.85) ? 2 : 1, headers };
    const tag = this.#publisher.publish('later', 'any', properties, bodyOf(messageId));
    if (tag > 0) this.#outstanding.set(tag, messageId);
  }

  /** Cancels a delayed message. */
  #withdraw(): void {
    const ids: string[] = [];
    const later = this.#vhost.exchanges.get('later');
    later?.delayed?.each(({ message }) => void ids.push(message.properties.messageId ?? ''));
    if (ids.length > 0) this.#vhost.cancelDelayed('later', this.#options.random.pick(ids));
  }

  /** The size of a body: mostly small, some larger than a sector, a few larger than a small segment. */
  #size(): number {
    const { random } = this.#options;
    if (random.chance(0.03)) return random.integer(3_000, 9_000);
    return random.chance(0.3) ? random.integer(400, 1_500) : random.integer(0, 120);
  }

  #settle(channel: Channel, settle: (tag: number, multiple: boolean) => void): void {
    const { random } = this.#options;
    const tags: number[] = [];
    channel.receiver.settler.unacked.each(({ deliveryTag }) => void tags.push(deliveryTag));
    if (tags.length > 0) settle(random.pick(tags), random.chance(0.3));
  }

  #transaction(): void {
    const channel = this.#open();
    channel.txSelect();
    for (let count = this.#options.random.integer(1, 4); count > 0; count--) this.#publish(channel);
    if (this.#options.random.chance(0.8)) channel.txCommit();
    channel.close();
  }

  #redrive(): void {
    const { random } = this.#options;
    const queue = this.#vhost.queues.get(random.chance(0.5) ? 'dead' : random.pick(names));
    if (queue === undefined || queue.length === 0) return;
    let rest = random.integer(0, queue.length - 1);
    queue.peek((entry) => {
      if (rest-- > 0) return true;
      const { headers } = entry.message.properties;
      const [exchange, routingKey] = random.chance(0.2) ? ['twins', 'any'] : ['', random.pick(names)];
      const { outcome } = this.#vhost.redrive(queue, entry, { exchange, routingKey, headers });
      this.#options.seen?.(outcome);
      if (outcome !== 'moved') return false;
      this.counts.redriven++;
      return false;
    });
  }

  #declare(name: string): void {
    const { random } = this.#options;
    const given = random.pick(declarations[name] as readonly Arguments[]);
    this.#publisher.declareQueue(name, { durable: name !== passing, arguments: tableOf(given) });
  }

  #policy(name: string): void {
    const { random } = this.#options;
    const policy = random.pick(['one', 'two']);
    if (random.chance(0.4)) return void this.#vhost.deletePolicy(policy);
    const definition = random.pick([{ 'max-length': 4 }, { 'message-ttl': 30 }, { 'dead-letter-exchange': 'fan' }]);
    this.#vhost.setPolicy(policy, { pattern: name, definition, priority: random.integer(0, 3) });
  }

  #user(): void {
    const { random } = this.#options;
    const name = random.pick(['ann', 'bob']);
    if (random.chance(0.3)) return void this.#broker.access.deleteUser(name);
    this.#broker.access.setUser(name, { tags: ['management'], passwordHash: String(random.integer(0, 99)) });
    const vhost = random.pick([...this.#broker.virtualHosts.keys()]);
    this.#broker.access.setPermissions(name, vhost, { configure: '', write: '.*', read: '.*' });
  }

  /** Adds another virtual host with a queue and a message, or removes it. */
  #otherVirtualHost(): void {
    const { random } = this.#options;
    if (random.chance(0.4)) return this.#broker.removeVirtualHost('other');
    this.#broker.addVirtualHost('other');
    const connection = this.#broker.connect({ vhost: 'other' });
    const channel = connection.openChannel(silent);
    channel.declareQueue('there', { durable: true });
    const messageId = messageIdOf(this.#number++, this.#size());
    channel.publish('', 'there', { messageId, deliveryMode: 2 }, bodyOf(messageId));
    connection.close();
  }

  #open(): Channel {
    const deliver = ({
      message,
      body,
      deliveryTag,
      redelivered,
      deliveryCount,
    }: Parameters<ChannelOutbox['deliver']>[0]): void => {
      const { messageId = '' } = message.own;
      if (!bodyOf(messageId).equals(body)) this.#options.wrong?.(messageId);
      this.#options.seen?.(
        `${deliveryTag} ${messageId} ${redelivered} ${deliveryCount} ${describeProperties(message)}`,
      );
    };
    return this.#broker.connect().openChannel({ ...silent, deliver });
  }

  #openPublisher(): Channel {
    const outstanding = new Map<number, string>();
    this.#outstanding = outstanding;
    const confirmed = (tag: number, multiple: boolean, ok: boolean): void => {
      for (const [each, messageId] of outstanding) {
        if (each !== tag && !(multiple && each < tag)) continue;
        outstanding.delete(each);
        if (ok) this.#options.confirmed(messageId);
      }
    };
    const channel = this.#broker.connect().openChannel({ ...silent, confirmed });
    channel.confirmSelect();
    return channel;
  }
}
