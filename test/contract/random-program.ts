import { args, attempt, deaths } from './contract.js';
import type { Received, Session, TestChannel, TestConsumer } from './driver.js';

/** Numbers that a seed decides (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0 to below `sides`. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  }

  chance(percent: number): boolean {
    return this.roll(100) < percent;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.roll(items.length)] as T;
  }
}

/** Dead letters go down this list or back to where they came from: circles of expiry are left to section I. */
const queues = ['a', 'b', 'c'] as const;

/**
 * Declares queues with random arguments, performs random commands, and records everything that a client can see: the
 * record of a seed must be the same on every broker. So every message has one way to go, for between queues there is no
 * order (rule J1); times other than 0 are left out, and so is what rules V1 and V2 say of RabbitMQ.
 */
export async function playRandomProgram(session: Session, seed: number, steps: number): Promise<string[]> {
  const dice = new Dice(seed);
  const story: string[] = [];
  const player = new Player(session, dice, story);
  await player.declare();
  for (let step = 0; step < steps; step += 1) await player.step();
  await player.finish();
  return story;
}

class Player {
  readonly #session: Session;
  readonly #dice: Dice;
  readonly #story: string[];
  #channel!: TestChannel;
  #outstanding: { readonly tag: number; readonly queue: string }[] = [];
  #consumers: { readonly consumer: TestConsumer; readonly queue: string; readonly noAck: boolean; seen: number }[] = [];
  readonly #quorumQueues = new Set<string>();
  /** Rule V8: the consumer of such a queue gets one too many for a message that dies of the limit at a requeue. */
  readonly #limited = new Set<string>();
  #published = 0;
  #tags = 0;
  #told = 0;
  #returned = 0;

  constructor(session: Session, dice: Dice, story: string[]) {
    this.#session = session;
    this.#dice = dice;
    this.#story = story;
  }

  async declare(): Promise<void> {
    await this.#open();
    await this.#channel.declareQueue('end');
    for (const [index, queue] of queues.entries()) {
      const quorum = this.#dice.chance(20);
      if (quorum) this.#quorumQueues.add(queue);
      const values = { ...this.#deadLettering(queue, index), ...(quorum ? this.#quorum() : this.#limits()) };
      if ('x-delivery-limit' in values) this.#limited.add(queue);
      this.#story.push(`declare ${queue} ${JSON.stringify(values)}`);
      await this.#channel.declareQueue(queue, { durable: quorum, arguments: args(values) });
    }
  }

  async step(): Promise<void> {
    const dice = this.#dice;
    const roll = dice.roll(100);
    if (roll < 40) await this.#publish();
    else if (roll < 55) await this.#get();
    else if (roll < 82) await this.#settle();
    else if (roll < 88) await this.#consume();
    else if (roll < 91) await this.#cancel();
    else if (roll < 95) await this.#recover();
    else if (roll < 97) await this.#reopen();
    else await this.#tell(`purge`, this.#channel.purgeQueue(dice.pick(queues)));
    await this.#look();
  }

  async finish(): Promise<void> {
    await this.#reopen();
    for (const queue of [...queues, 'end'])
      this.#story.push(...(await this.#session.drain(queue)).map((message) => `left in ${queue}: ${shown(message)}`));
  }

  #deadLettering(queue: string, index: number): Record<string, string> {
    const dice = this.#dice;
    if (dice.chance(15)) return {};
    if (dice.chance(10)) return { 'x-dead-letter-exchange': 'amq.direct' };
    const target = dice.pick([...queues.slice(index + 1), 'end']);
    if (dice.chance(10)) return { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue };
    return { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': target };
  }

  #limits(): Record<string, string | number> {
    const dice = this.#dice;
    const values: Record<string, string | number> = {};
    if (dice.chance(50)) values['x-max-length'] = dice.roll(4);
    if (dice.chance(20)) values['x-max-length-bytes'] = dice.roll(12);
    if (dice.chance(50)) values['x-overflow'] = dice.pick(['drop-head', 'reject-publish', 'reject-publish-dlx']);
    if (dice.chance(25)) values['x-max-priority'] = 3;
    else if (dice.chance(10)) values['x-message-ttl'] = 0;
    return values;
  }

  #quorum(): Record<string, string | number> {
    return { 'x-queue-type': 'quorum', ...(this.#dice.chance(60) ? { 'x-delivery-limit': this.#dice.roll(3) } : {}) };
  }

  async #open(): Promise<void> {
    this.#channel = await this.#session.channel();
    await this.#channel.confirmSelect();
    await this.#channel.qos(this.#dice.roll(4));
    this.#outstanding = [];
    this.#consumers = [];
    this.#told = 0;
    this.#returned = 0;
  }

  async #publish(): Promise<void> {
    const dice = this.#dice;
    const body = `m${(this.#published += 1)}`;
    const priority = dice.chance(30) ? { priority: dice.roll(5) } : {};
    const key = dice.chance(95) ? dice.pick(queues) : 'nobody';
    const options = { body, mandatory: dice.chance(20), properties: priority };
    await this.#tell(`publish ${body} to ${key}`, this.#channel.publish('', key, options));
  }

  async #get(): Promise<void> {
    const queue = this.#dice.pick(queues);
    const noAck = this.#dice.chance(15);
    const message = await this.#channel.get(queue, { noAck });
    this.#story.push(`get ${queue}: ${message === undefined ? 'nothing' : shown(message)}`);
    if (message !== undefined && !noAck) this.#outstanding.push({ tag: message.deliveryTag, queue });
  }

  async #settle(): Promise<void> {
    if (this.#outstanding.length === 0) return;
    const dice = this.#dice;
    const { tag } = dice.pick(this.#outstanding);
    const together = this.#outstanding.filter((each) => each.tag <= tag);
    const multiple = dice.chance(25) && isOneQueue(together);
    const requeue = dice.chance(45) && !this.#consumesLimited;
    this.#outstanding = this.#outstanding.filter((each) => (multiple ? each.tag > tag : each.tag !== tag));
    if (dice.chance(25)) await this.#tell(`ack ${tag} ${multiple}`, this.#channel.ack(tag, multiple));
    else
      await this.#tell(
        `nack ${tag} multiple ${multiple} requeue ${requeue}`,
        this.#channel.nack(tag, { multiple, requeue }),
      );
  }

  get #consumesLimited(): boolean {
    return this.#consumers.some(({ queue }) => this.#limited.has(queue));
  }

  async #consume(): Promise<void> {
    const queue = this.#dice.pick(queues);
    const noAck = this.#dice.chance(20);
    if (this.#consumers.length > 0) return; // between queues there is no order
    this.#story.push(`consume ${queue} noAck ${noAck}`);
    // A tag used again while deliveries of its first use are open makes 3.10.8 drop the connection, on quorum queues.
    const tag = `${queue}${(this.#tags += 1)}`;
    this.#consumers.push({ consumer: await this.#channel.consume(queue, { tag, noAck }), queue, noAck, seen: 0 });
  }

  async #cancel(): Promise<void> {
    const gone = this.#consumers.shift();
    if (gone !== undefined) await this.#tell(`cancel ${gone.queue}`, this.#channel.cancel(gone.consumer.tag));
  }

  async #recover(): Promise<void> {
    if (!isOneQueue(this.#outstanding) || this.#consumesLimited) return;
    await this.#tell('recover', this.#channel.recover(true));
    this.#outstanding = [];
  }

  /**
   * Closes the channel once what that requeues is of one queue: between queues there is no order, nor between several
   * gets of a quorum queue.
   */
  async #reopen(): Promise<void> {
    await this.#cancel();
    const settled = (): boolean =>
      isOneQueue(this.#outstanding) &&
      (this.#outstanding.length < 2 || !this.#quorumQueues.has(this.#outstanding[0]?.queue ?? ''));
    while (!settled()) {
      const { tag } = this.#outstanding.pop() ?? { tag: 0 };
      await this.#tell(`reject ${tag}`, this.#channel.reject(tag, true));
      await this.#session.settle();
    }
    await this.#tell('close', this.#channel.close());
    await this.#session.settle();
    await this.#open();
  }

  async #tell(what: string, action: Promise<unknown>): Promise<void> {
    this.#story.push(`${what}: ${JSON.stringify(await attempt(action))}`);
  }

  /** What arrived since the last look. */
  async #look(): Promise<void> {
    await this.#session.settle();
    for (const each of this.#consumers) {
      for (const message of each.consumer.messages.slice(each.seen)) {
        this.#story.push(`  ${each.queue} gets ${shown(message)}`);
        if (!each.noAck) this.#outstanding.push({ tag: message.deliveryTag, queue: each.queue });
      }
      each.seen = each.consumer.messages.length;
    }
    this.#outstanding.sort((one, other) => one.tag - other.tag);
    const returned = this.#channel.returns.slice(this.#returned).map(({ body }) => `return ${body}`);
    const { acked, nacked, pending } = this.#channel.confirms();
    this.#returned = this.#channel.returns.length;
    const settled = acked.length + nacked.length;
    if (settled > this.#told)
      this.#story.push(`  acked ${acked.length} nacked ${nacked.join()} open ${pending.join()}`);
    this.#told = settled;
    this.#story.push(...returned);
  }
}

const isOneQueue = (outstanding: readonly { readonly queue: string }[]): boolean =>
  new Set(outstanding.map(({ queue }) => queue)).size < 2;

/** Deaths are sorted: rule V2. */
function shown(message: Received): string {
  const { body, redelivered, routingKey, exchange, properties, messageCount = '' } = message;
  const count = properties.headers?.get('x-delivery-count')?.value ?? '';
  const history = deaths(message).sort().join('; ');
  return `${body} from '${exchange}' ${routingKey} ${redelivered ? 'again' : 'fresh'} ${count} left ${messageCount} [${history}]`;
}
