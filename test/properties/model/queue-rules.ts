import { bytes, type Copy, describeMessage, expect, leave, type ModelConsumer, type ModelMessage } from './world.js';
import { type ModelQueue, ready, type Reason, type World } from './world.js';

/**
 * Offers a message to a queue; false when it refuses (rules B4, B10, C3 to C8).
 * @param isLetter true for a dead letter, which a quorum queue does not refuse (rule C13)
 */
export function enqueue(world: World, queue: ModelQueue, message: ModelMessage, isLetter = false): boolean {
  const { setup } = queue;
  observe(queue);
  const refuses = setup.overflow === 'reject-publish' || (setup.overflow === 'reject-publish-dlx' && isClassic(queue));
  if (isClassic(queue) ? refuses && exceeds(queue, message) : queue.refusing && !isLetter) {
    if (setup.overflow === 'reject-publish-dlx' && setup.deadLetters !== undefined) {
      world.dead.push({ queue, message, reason: 'maxlen' }); // rule C8
    }
    return false;
  }
  const times = [setup.ttl, message.expiration].filter((time) => time !== undefined);
  const deadline = times.length === 0 ? undefined : world.now + Math.min(...times);
  const copy: Copy = { message, position: queue.positions++, deadline, returns: 0 };
  world.copies++;
  if (ready(queue).length === 0 && withRoom(world, queue).length > 0) {
    handOut(world, queue, copy);
    return true;
  }
  insert(queue, copy);
  const dropped = dropExcess(world, queue);
  observe(queue);
  const isAwaited = world.ringing.includes(queue.setup.name);
  if (!isAwaited && (dropped || ready(queue)[0] === copy)) expireHeads(world, queue);
  return true;
}

/** Brings a queue to rest, or as near to it as some steps go: length, then time, then consumers; quorum: length last. */
export function serve(world: World, queue: ModelQueue, steps = Infinity): void {
  if (isClassic(queue)) dropExcess(world, queue);
  for (let left = steps; left > 0 && !isAtRest(world, queue); left--) {
    const next = shift(queue);
    if (isOver(world, next)) die(world, queue, next, 'expired');
    else handOut(world, queue, next);
  }
  if (isAtRest(world, queue)) dropExcess(world, queue);
  observe(queue);
}

/** Rule D7: above its limit a quorum queue refuses, until it has no more than four fifths of it. */
function observe(queue: ModelQueue): void {
  const { type, overflow, maxLength = Infinity, maxBytes = Infinity } = queue.setup;
  if (type !== 'quorum' || overflow !== 'reject-publish') return;
  const part = (limit: number): number => (queue.refusing ? Math.floor(limit * 0.8) : limit);
  const here = ready(queue);
  queue.refusing = here.length > part(maxLength) || bytes(here) > part(maxBytes);
}

/** Whether nothing is to be done with the next message, if there is one. */
export function isAtRest(world: World, queue: ModelQueue): boolean {
  const next = ready(queue)[0];
  return next === undefined || !(isOver(world, next) || withRoom(world, queue).length > 0);
}

export function shift(queue: ModelQueue): Copy {
  return (queue.returned.length > 0 ? queue.returned : queue.line).shift() as Copy;
}

/** Back in its queue, by the client's wish or because its channel is lost (rules D2, D5, J2). */
export function giveBack(world: World, queue: ModelQueue, copy: Copy, lost: boolean): void {
  observe(queue);
  copy.returns++;
  const limit = queue.setup.deliveryLimit;
  if (limit !== undefined && copy.returns > limit) die(world, queue, copy, 'delivery_limit');
  else if (isClassic(queue)) insert(queue, copy);
  else if (limit !== undefined || lost) queue.returned.push(copy);
  else queue.line.push({ ...copy, position: queue.positions++ });
  mark(world, queue);
}

/** It left the queue by one of the four deaths; without a dead-letter exchange that is all (rule A7). */
export function die(world: World, queue: ModelQueue, copy: Copy, reason: Reason): void {
  leave(world, copy, reason);
  if (queue.setup.deadLetters !== undefined) world.dead.push({ queue, message: copy.message, reason });
}

export function mark(world: World, queue: ModelQueue): void {
  if (!queue.deleted && !world.marked.includes(queue.setup.name)) world.marked.push(queue.setup.name);
}

/** Rules B5 to B7. */
export function expireHeads(world: World, queue: ModelQueue): void {
  for (let head = ready(queue)[0]; head !== undefined && isOver(world, head); head = ready(queue)[0]) {
    die(world, queue, shift(queue), 'expired');
  }
}

const isOver = (world: World, { deadline }: Copy): boolean => deadline !== undefined && deadline <= world.now;

/** Consumers that can take a message; of these the ones of the highest priority (rules J4, Q3). */
export function withRoom(world: World, queue: ModelQueue): ModelConsumer[] {
  const open = queue.consumers.filter((consumer) => {
    const held = world.channels[consumer.channel]!.held.filter((each) => each.consumer === consumer.tag);
    return consumer.noAck || consumer.prefetch === 0 || held.length < consumer.prefetch;
  });
  return open.filter(({ priority }) => open.every((other) => other.priority <= priority));
}

/** The engine chose the consumer; everything else about the delivery is certain. */
function handOut(world: World, queue: ModelQueue, copy: Copy): void {
  const { name } = queue.setup;
  const index = world.seen.findIndex((each) => each.queue === name);
  const seen = world.seen[index];
  if (seen === undefined) return expect(false, () => `${name} should deliver #${copy.message.id}`);
  world.seen.splice(index, 1);
  const taker = withRoom(world, queue).find(({ tag }) => tag === seen.consumer);
  expect(taker !== undefined, () => `${name} delivers to ${seen.consumer}, whose turn it is not`);
  expectDelivered(copy, seen);
  const { deadline } = copy;
  // Rule B7; rule B10: what has no time at all is delivered at the moment it comes.
  expect(deadline === undefined || deadline >= world.now, () => `#${copy.message.id} is delivered after its time`);
  if (taker!.noAck) return leave(world, copy, 'delivered without ack');
  queue.unacked++;
  world.channels[taker!.channel]!.held.push({ tag: seen.tag, queue, copy, consumer: taker!.tag });
}

export function expectDelivered(
  copy: Copy,
  seen: { readonly message: string; readonly redelivered: boolean; readonly deliveryCount: number },
): void {
  const should = `${describeMessage(copy.message)} redelivered ${copy.returns > 0} after ${copy.returns}`;
  const is = `${seen.message} redelivered ${seen.redelivered} after ${seen.deliveryCount}`;
  expect(is === should, () => `delivered ${is}, should be ${should}`);
}

/** Highest priority first, in one priority by position (rules J1, J2, R1). */
function insert(queue: ModelQueue, copy: Copy): void {
  queue.line.push(copy);
  queue.line.sort((one, other) => rank(queue, other) - rank(queue, one) || one.position - other.position);
}

/** The priority a message has in its queue; 0 where the queue has no priorities (rule R1). */
export const rank = ({ setup }: ModelQueue, { message }: Copy): number =>
  Math.min(message.priority, setup.maxPriority ?? 0);

/** Rules C1, C4, C9. */
function dropExcess(world: World, queue: ModelQueue): boolean {
  const { overflow = 'drop-head' } = queue.setup;
  if (overflow !== 'drop-head' && isClassic(queue)) return false;
  if (overflow === 'reject-publish') return false; // rule D7: reject-publish-dlx drops in a quorum queue
  const excess = exceeds(queue);
  while (exceeds(queue)) die(world, queue, shift(queue), 'maxlen');
  return excess;
}

function exceeds({ setup, returned, line }: ModelQueue, oneMore?: ModelMessage): boolean {
  const { maxLength = Infinity, maxBytes = Infinity } = setup;
  const length = returned.length + line.length + (oneMore === undefined ? 0 : 1);
  return length > maxLength || bytes([...returned, ...line]) + (oneMore?.size ?? 0) > maxBytes;
}

const isClassic = (queue: ModelQueue): boolean => queue.setup.type === 'classic';
