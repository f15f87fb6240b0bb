import { serve, enqueue, isAtRest, mark } from './queue-rules.js';
import { settleNext } from './settle.js';
import { expect, heldBack, type Letter, Mismatch, type ModelMessage, queueOf, ready, type World } from './world.js';

/** Of a pace in these tests. */
export const largestBudget = 5;

/** Where an exchange sends a key: the default exchange to the queue of that name, the fanout to all it has. */
export function route(world: World, exchange: string, key: string): string[] {
  if (exchange === '') return queueOf(world, key) === undefined ? [] : [key];
  return exchange === 'fan' || exchange === 'later' ? [...world.bound] : []; // rule A7: a missing exchange takes nothing
}

/** Whether the exchange holds the message back for its delay; if so it does. */
export function holdsBack(world: World, message: ModelMessage): boolean {
  const { exchange, delay = 0 } = message;
  if (exchange !== 'later' || delay <= 0) return false;
  const due = world.now + delay;
  world.heldBack.push({ message: { ...message, delay: -delay }, due, position: world.everHeldBack++ });
  return true;
}

/**
 * Finishes a command: queues come to rest, then what died in them arrives, one letter after the other. Rules say nothing
 * about the order of several queues, nor whether a timer that is late is overtaken by other work, so every way is tried.
 * @returns the first outcome that satisfies `agrees`
 * @throws Mismatch when none does
 */
export function finish(world: World, agrees: (world: World) => void): World {
  const ways: ((here: World) => World)[] = [];
  if (world.isReleasing) {
    for (const ringing of ringings(world)) ways.push((here) => finish(released(here, ringing), agrees));
    return firstOf(ways, world);
  }
  if (world.marked.length === 0 && world.lots.length > 0) ways.push((here) => finish(settleNext(here), agrees));
  else if (world.marked.length === 0 && world.dead.length === 0) ways.push((here) => (agrees(here), here));
  else if (world.marked.length === 0) ways.push((here) => finish(carried(here), agrees));
  for (const name of new Set([...world.marked, ...overdue(world)])) {
    ways.push((here) => finish(attended(here, name), agrees));
    for (let steps = 1; world.slices && steps <= largestBudget; steps++) {
      ways.push((here) => finish(begun(here, name, steps), agrees));
    }
  }
  return firstOf(ways, world);
}

/** Tries each order. @throws Mismatch of the first one if none fits */
function firstOf(ways: readonly ((here: World) => World)[], world: World): World {
  let reason: unknown;
  for (const way of ways) {
    try {
      return way(ways.length === 1 ? world : structuredClone(world));
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      reason ??= error;
    }
  }
  throw reason;
}

/** Their time is over, but their timers have not rung (rule B8). */
const overdue = (world: World): string[] =>
  world.queues.filter((queue) => (ready(queue)[0]?.deadline ?? Infinity) <= world.now).map(({ setup }) => setup.name);

/**
 * What the delayed exchange held for long enough goes to its queues, before anything else happens at this time.
 * @param ringing queues that wait for their turn, as their timers rang, too
 */
function released(world: World, ringing: string[]): World {
  world.isReleasing = false;
  world.ringing = ringing;
  for (const each of heldBack(world).filter(({ due }) => due <= world.now)) {
    world.heldBack = world.heldBack.filter((other) => other !== each);
    const targets = route(world, 'later', each.message.key);
    if (targets.length === 0) world.ledger.push({ id: each.message.id, why: 'unroutable' });
    for (const name of targets) {
      if (enqueue(world, queueOf(world, name)!, each.message)) continue;
      world.ledger.push({ id: each.message.id, why: 'refused after its delay' });
    }
  }
  world.ringing = [];
  return world;
}

/** Who is overdue has surely rung; a timer set for what has left since may have, too. */
function ringings(world: World): string[][] {
  const due = world.heldBack.filter((each) => each.due <= world.now);
  if (due.length === 0) return [[]];
  const bringsOver = due.some(({ message }) => message.expiration === 0);
  let ways = [overdue(world)];
  for (const queue of world.queues) {
    const { name } = queue.setup;
    if (ways[0]!.includes(name) || !world.bound.includes(name)) continue;
    const hasOver = ready(queue).some(({ deadline = Infinity }) => deadline <= world.now);
    if (hasOver || bringsOver || queue.setup.ttl === 0) {
      ways = ways.flatMap((way) => [way, [...way, name]]);
    }
  }
  return ways;
}

function attended(world: World, name: string): World {
  world.marked = world.marked.filter((other) => other !== name);
  const queue = queueOf(world, name);
  if (queue !== undefined) serve(world, queue);
  return world;
}

/** With a pace a queue may be left after some steps, and another one comes first. */
function begun(world: World, name: string, steps: number): World {
  const queue = queueOf(world, name)!;
  serve(world, queue, steps);
  expect(!isAtRest(world, queue), () => `${name} is at rest sooner`);
  mark(world, queue);
  return world;
}

function carried(world: World): World {
  const { queue, message, reason } = world.dead.shift() as Letter;
  const { exchange, key = message.key } = queue.setup.deadLetters!;
  const name = queue.setup.name;
  const before = message.deaths.find((death) => death.queue === name && death.reason === reason);
  const deaths = [
    { queue: name, reason, count: (before?.count ?? 0) + 1 },
    ...message.deaths.filter((death) => death !== before),
  ];
  const firstDeath = message.firstDeath ?? `${reason} ${name} '${message.exchange}'`;
  const letter: ModelMessage = { ...message, exchange, key, expiration: undefined, deaths, firstDeath };
  if (holdsBack(world, letter)) return world;
  for (const target of route(world, exchange, key)) {
    if (isCycle(letter, target)) world.ledger.push({ id: message.id, why: 'cycle' });
    else enqueue(world, queueOf(world, target)!, letter, true);
  }
  return world;
}

/** Rule I2. */
function isCycle({ deaths }: ModelMessage, target: string): boolean {
  const last = deaths.findIndex(({ queue }) => queue === target);
  return last >= 0 && deaths.slice(0, last + 1).every(({ reason }) => reason !== 'rejected');
}
