import { channelCount, type Command } from './commands.js';
import { enqueue, expectDelivered, expireHeads, mark, shift, withRoom } from './queue-rules.js';
import { settle } from './settle.js';
import { holdsBack, route } from './walk.js';
import { expect, type Held, leave, type ModelMessage, queueOf, ready } from './world.js';
import type { ModelConsumer, ModelQueue, QueueSetup, Seen, World } from './world.js';

/** The engine's answer to a command. */
export interface Answer {
  readonly id?: number;
  readonly got?: Seen | undefined;
  readonly count?: number;
  readonly confirmed?: boolean | undefined;
  readonly consumerTag?: string;
}

export const emptyWorld = (now: number, slices: boolean): World => ({
  now,
  slices,
  queues: [],
  heldBack: [],
  isReleasing: false,
  everHeldBack: 0,
  bound: [],
  channels: Array.from({ length: channelCount }, () => ({ held: [] })),
  dead: [],
  lots: [],
  marked: [],
  ringing: [],
  seen: [],
  ledger: [],
  copies: 0,
});

/** One command in the model, up to what is left for {@link finish}. */
export function step(world: World, command: Command, answer: Answer, setups: readonly QueueSetup[]): void {
  switch (command.do) {
    case 'publish':
      return publish(world, command, answer);
    case 'get':
      return get(world, command, answer);
    case 'settle':
      return settle(world, command.channel, settledBy(world, command), command.how);
    case 'recover':
      return settle(world, command.channel, world.channels[command.channel]!.held, 'requeue');
    case 'close':
      for (const queue of world.queues) leaveConsumers(world, queue, ({ channel }) => channel === command.channel);
      return settle(world, command.channel, world.channels[command.channel]!.held, 'lost');
    case 'consume': {
      const queue = queueOf(world, command.queue);
      if (queue === undefined) return;
      queue.consumers.push({ ...command, tag: answer.consumerTag! });
      return mark(world, queue);
    }
    case 'cancel':
      for (const queue of world.queues) leaveConsumers(world, queue, ({ tag }) => tag === answer.consumerTag);
      return;
    case 'withdraw':
      return withdraw(world, answer);
    case 'purge':
    case 'delete':
      return remove(world, command.do, command.queue, answer);
    case 'declare':
      return declare(
        world,
        setups.find(({ name }) => name === command.queue)!,
        answer,
      );
    case 'late':
      return;
    case 'advance':
      world.isReleasing = true;
      for (const queue of world.queues) mark(world, queue);
  }
}

/** The deliveries a settle command speaks of: one, or all up to it (rule A3). */
export function settledBy(world: World, { channel, pick, multiple }: Command & { do: 'settle' }): Held[] {
  const { held } = world.channels[channel]!;
  if (held.length === 0) return [];
  const { tag } = held[pick % held.length]!;
  return held
    .filter((each) => (multiple ? each.tag <= tag : each.tag === tag))
    .sort((one, other) => one.tag - other.tag);
}

/** Those that stay are looked at again. */
function leaveConsumers(world: World, queue: ModelQueue, goes: (consumer: ModelConsumer) => boolean): void {
  const stay = queue.consumers.filter((consumer) => !goes(consumer));
  const someLeft = stay.length < queue.consumers.length;
  queue.consumers = stay;
  if (someLeft && stay.length > 0) mark(world, queue);
}

function publish(world: World, { to, size, priority, ttl, delay }: Command & { do: 'publish' }, answer: Answer): void {
  const [exchange, key] = addressOf(to);
  const nothing = { deaths: [], firstDeath: undefined };
  const message: ModelMessage = { id: answer.id!, size, priority, expiration: ttl, exchange, key, delay, ...nothing };
  if (holdsBack(world, message)) return expect(answer.confirmed === true, () => `#${answer.id} should be acked`);
  const targets = route(world, exchange, key);
  if (targets.length === 0) world.ledger.push({ id: message.id, why: 'unroutable' });
  let accepted = true;
  for (const name of targets) if (!enqueue(world, queueOf(world, name)!, message)) accepted = false;
  expect(answer.confirmed === accepted, () => `#${answer.id} should be ${accepted ? 'acked' : 'nacked'}`); // rule K1
}

/** The exchange and the key of a name to publish to: an exchange, or else a queue. */
export const addressOf = (to: string): readonly [string, string] =>
  to === 'fan' || to === 'later' ? [to, 'a'] : ['', to];

/** The delayed copies of one message. */
function withdraw(world: World, { id, count }: Answer): void {
  const gone = world.heldBack.filter(({ message }) => message.id === id);
  expect(count === gone.length, () => `${count} of #${id} were withdrawn, should be ${gone.length}`);
  for (const { message } of gone) world.ledger.push({ id: message.id, why: 'withdrawn' });
  world.heldBack = world.heldBack.filter((each) => !gone.includes(each));
}

function get(world: World, { channel, queue: name, noAck }: Command & { do: 'get' }, { got }: Answer): void {
  const queue = queueOf(world, name);
  if (queue === undefined) return;
  expireHeads(world, queue);
  if (ready(queue).length === 0)
    return expect(got === undefined, () => `${name} is empty, but there was something to get`);
  const copy = shift(queue);
  expireHeads(world, queue);
  if (got === undefined) return expect(false, () => `#${copy.message.id} should be there to get`);
  expectDelivered(copy, got);
  if (noAck) return leave(world, copy, 'got without ack');
  queue.unacked++;
  world.channels[channel]!.held.push({ tag: got.tag, queue, copy, consumer: undefined });
}

function remove(world: World, how: 'purge' | 'delete', name: string, answer: Answer): void {
  const queue = queueOf(world, name);
  if (queue === undefined) return;
  const gone = ready(queue);
  expect(answer.count === gone.length, () => `${how} of ${name} says ${answer.count}, should be ${gone.length}`);
  for (const copy of gone) leave(world, copy, how);
  queue.returned = [];
  queue.line = [];
  if (how === 'purge') return;
  for (const { held } of world.channels)
    for (const each of held) if (each.queue === queue) leave(world, each.copy, how);
  queue.deleted = true;
  world.queues = world.queues.filter((other) => other !== queue);
  world.bound = world.bound.filter((other) => other !== name);
}

function declare(world: World, setup: QueueSetup, answer: Answer): void {
  const { name } = setup;
  const known = queueOf(world, name);
  const count = known === undefined ? 0 : ready(known).length;
  expect(answer.count === count, () => `declare of ${name} says ${answer.count}, should be ${count}`); // rule O1
  if (known !== undefined) return;
  const nothing = { returned: [], line: [], unacked: 0, consumers: [], deleted: false, refusing: false, positions: 1 };
  world.queues.push({ setup, ...nothing });
  if (setup.bound) world.bound.push(name);
}

/** The next time at which the head of a queue expires, or a delay is over: time stops there. */
export function nextDeadline(world: World): number | undefined {
  const heads = world.queues.map((queue) => ready(queue)[0]?.deadline).filter((time) => time !== undefined);
  const times = [...heads, ...world.heldBack.map(({ due }) => due)];
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The end of a message that was in no queue. */
const notOfACopy = new Set(['cycle', 'unroutable', 'withdrawn', 'refused after its delay']);

/** Whatever the engine does: a ready message and a consumer with room never stay side by side. */
export function expectRest(world: World): void {
  expect(world.seen.length === 0, () => `unexpected delivery of ${world.seen[0]!.message}`);
  for (const queue of world.queues) {
    const idle = ready(queue).length > 0 && withRoom(world, queue).length > 0;
    expect(!idle, () => `${queue.setup.name} waits though a consumer has room`);
  }
  const held = world.channels.flatMap((channel) => channel.held).filter((each) => !each.queue.deleted);
  const waiting = world.queues.flatMap(ready);
  const left = world.ledger.filter(({ why }) => !notOfACopy.has(why));
  const accounted = held.length + waiting.length + left.length;
  expect(world.copies === accounted, () => `${world.copies} copies were made, ${accounted} are accounted for`);
}
