import { type Broker, type Clock, inRestoreOrder, type MessageOwner } from '../../engine/broker/index.js';
import { type Message, messageOf, emptyBody } from '../../engine/message/index.js';
import { chosen, isTurnOver, sorting } from './in-turns.js';
import type { Damage } from './options.js';
import type { Recovered } from './recover.js';
import { type Entry, Flag, slotOf } from './tables.js';

/**
 * After the log was read: removes entries whose message or queue is missing, counts the entries of each message, and the
 * live records of each segment. Some of it in each step.
 * @returns what is lost
 */
export function* checkingRecovered(recovered: Recovered): Generator<void, Pick<Damage, 'queues' | 'misplaced'>> {
  const { inventory, declared, replay } = recovered;
  const { entries, messages } = inventory;
  const lost = new Map<number, number>();
  for (const queue of replay.losses) lost.set(queue, (lost.get(queue) ?? 0) + 1);
  for (let number = 1; number < entries.end; number++) {
    if (isTurnOver(number)) yield;
    if ((entries.flags.get(number) & Flag.Live) === 0) continue;
    const queue = entries.queue.get(number);
    const message = entries.message.get(number);
    if (isWhole(recovered, number, message) && declared.placeOf(queue) !== undefined) {
      messages.own.add(message, 1);
      continue;
    }
    entries.flags.set(number, 0);
    if (!replay.isDeleted(queue)) lost.set(queue, (lost.get(queue) ?? 0) + 1);
  }
  yield* sharingBodies(recovered);
  yield* messages.rebuildingFreeList();
  yield* entries.rebuildingFreeList();
  // The numbers of removed entries will be used again.
  for (const facts of [inventory.orders, inventory.deaths]) {
    let count = 0;
    for (const number of facts.keys()) {
      if (isTurnOver(++count)) yield;
      if ((entries.flags.get(number) & Flag.Live) === 0) facts.delete(number);
    }
  }
  yield* countingLive(recovered);
  for (const order of inventory.orders.values()) inventory.nextOrder = Math.max(inventory.nextOrder, order + 1);
  return damageOf(recovered, lost);
}

function isWhole({ inventory: { messages }, replay }: Recovered, entry: number, message: number): boolean {
  if (message >= messages.end || messages.segment.get(message) === 0) return false;
  if (messages.serial.get(message) !== replay.serials.get(entry)) return false;
  const root = messages.root.get(message);
  if (root === 0) return true;
  return (
    root < messages.end &&
    messages.segment.get(root) !== 0 &&
    messages.serial.get(root) === replay.rootSerials.get(message)
  );
}

function* sharingBodies({ inventory: { messages } }: Recovered): Generator<void, undefined> {
  for (let number = 1; number < messages.end; number++) {
    if (isTurnOver(number)) yield;
    const root = messages.root.get(number);
    if (root !== 0 && messages.own.get(number) !== 0) messages.shares.add(root, 1);
  }
}

function* countingLive({ inventory, segments }: Recovered): Generator<void, undefined> {
  const { entries, messages } = inventory;
  for (let number = 1; number < messages.end; number++) {
    if (isTurnOver(number)) yield;
    const segment = messages.segment.get(number);
    if (segment !== 0) segments.addRecord(segment, messages.length.get(number));
  }
  for (let number = 1; number < entries.end; number++) {
    if (isTurnOver(number)) yield;
    if ((entries.flags.get(number) & Flag.Live) !== 0)
      segments.addRecord(entries.segment.get(number), inventory.bytesOf(number));
  }
}

function damageOf(
  { declared, replay }: Recovered,
  lost: ReadonlyMap<number, number>,
): Pick<Damage, 'queues' | 'misplaced'> {
  const queues: { vhost: string; queue: string; lost: number }[] = [];
  let misplaced = 0;
  for (const [number, count] of lost) {
    const place = declared.placeOf(number);
    if (place !== undefined) queues.push({ vhost: place.vhost, queue: place.name, lost: count });
    else if (!replay.isDeleted(number)) misplaced += count;
  }
  return { queues, misplaced };
}

/** Messages that are put back in one turn of the event loop: a few milliseconds. */
const placedInTurn = 1_024;

/** Puts all entries back into their queues, in the order that the core defines (section L). */
export class MessageRestorer {
  /** The number of the entry being restored: its queue may report it to the journal before it has a slot. */
  current = 0;
  #isChanged = false;
  #isShortened = false;
  /** The log does not say yet which messages are suspect. */
  hasSuspects = false;
  /** Messages in several queues. */
  readonly #shared = new Map<number, Message>();
  #placed = 0;

  constructor(
    readonly recovered: Recovered,
    /** The last process crashed: an entry without a record of its delivery may have been delivered. */
    readonly afterCrash: boolean,
    /**
     * @param isChanged the record in the log is out of date
     * @param isShortened the clock was set back, so the entry ends before its deadline in the log
     */
    readonly placed: (number: number, entry: Entry, isChanged: boolean, isShortened: boolean) => void,
  ) {}

  /** Some of it in each step. */
  *restoring(broker: Broker): Generator<void, undefined> {
    for (const [number, { vhost, name }] of this.recovered.declared.queues()) {
      const home = broker.virtualHosts.get(vhost);
      const queue = home?.messageOwner(name);
      if (home === undefined || queue === undefined) continue;
      queue.slot = slotOf(number);
      yield* this.#refilling(queue, number, home.scheduler.clock);
    }
  }

  *#refilling(queue: MessageOwner, number: number, clock: Clock): Generator<void, undefined> {
    const { replay, inventory } = this.recovered;
    const { flags } = inventory.entries;
    const isHeld = (number: number): boolean => (flags.get(number) & Flag.Unacked) !== 0;
    const numbers = yield* inventory.entries.numbersOf(number);
    const ordered = yield* sorting(numbers, (number) => replay.positions.get(number));
    yield* this.#suspecting(queue, number, ordered);
    const { deaths } = inventory;
    const held = yield* chosen(ordered, (number) => isHeld(number) && !deaths.has(number));
    if (!replay.hasReturns && deaths.size === 0 && held.length === 0)
      return yield* this.#placing(queue, ordered, clock, false);
    const orderOf = (number: number): number => inventory.orders.get(number) ?? 0;
    const isReturned = (number: number): boolean => replay.returns.get(number) > 0 && !isHeld(number);
    const isFresh = (number: number): boolean => replay.returns.get(number) === 0 && !isHeld(number);
    const fresh = yield* chosen(ordered, (number) => isFresh(number) && !deaths.has(number));
    const returned = yield* chosen(ordered, (number) => isReturned(number) && !deaths.has(number));
    const dead = yield* chosen(ordered, (number) => deaths.has(number));
    yield* sorting(returned, orderOf);
    yield* sorting(dead, orderOf);
    const ends = [held, returned].map((part) => (part.length === 0 ? 0 : replay.positions.get(part.at(-1) as number)));
    const isBehind = fresh.length === 0 || replay.positions.get(fresh[0] as number) > Math.max(...ends);
    const inOrder = isBehind && queue.declared.type === 'classic';
    for (const part of [...inRestoreOrder(queue.declared, { fresh, returned, held }), dead])
      yield* this.#placing(queue, part, clock, inOrder);
  }

  /**
   * A message that may have been delivered before a crash counts as returned once, also after further starts: the log has the position
   * up to which that is so. Later messages never get such a position, because positions go on behind the last message.
   */
  *#suspecting(queue: MessageOwner, number: number, ordered: Uint32Array): Generator<void, undefined> {
    const { replay, declared } = this.recovered;
    const last = ordered.at(-1);
    const end = last === undefined ? 0 : replay.positions.get(last) + 1;
    const below = declared.suspectBelow(number);
    let count = 0;
    for (const entry of ordered) {
      if (replay.positions.get(entry) >= below) break;
      if (replay.returns.get(entry) === 0) replay.returned(entry, 1);
      if (isTurnOver(++count)) yield;
    }
    const isSuspect = this.afterCrash && queue.declared.type === 'classic';
    declared.suspect(number, isSuspect ? end : Math.min(below, end));
    if (isSuspect && end > 0) this.hasSuspects = true;
  }

  *#placing(queue: MessageOwner, numbers: Uint32Array, clock: Clock, inOrder: boolean): Generator<void, undefined> {
    const { replay, inventory } = this.recovered;
    const suspect = this.afterCrash && queue.declared.type === 'classic';
    let now = clock.now();
    for (const number of numbers) {
      if (++this.#placed % placedInTurn === 0) {
        yield;
        now = clock.now();
      }
      const deadline = replay.deadlines.get(number);
      const returns = replay.returns.get(number);
      const delivered = (inventory.entries.flags.get(number) & Flag.Unacked) !== 0;
      // The clock may have been set back: a message lives no longer than was left when it was written.
      const latest = deadline === 0 ? 0 : now + replay.remaining.get(number);
      const place = {
        position: replay.positions.get(number),
        deadline: Math.min(deadline, latest),
        returns,
        failures: replay.failures.get(number) ?? returns,
        delivered,
        death: inventory.deaths.get(number),
        due: replay.due.get(number) ?? 0,
        suspect,
        inOrder,
      };
      this.current = number;
      this.#isChanged = delivered;
      this.#isShortened = latest < deadline;
      const entry = queue.restore(this.#message(inventory.entries.message.get(number)), place, now);
      if (this.current !== 0) this.link(entry);
    }
  }

  /** Gives the entry being restored its slot. */
  link(entry: Entry): void {
    const number = this.current;
    this.current = 0;
    this.placed(number, entry, this.#isChanged, this.#isShortened);
  }

  #message(number: number): Message {
    const { inventory, replay } = this.recovered;
    const isShared = inventory.messages.own.get(number) > 1;
    const known = isShared ? this.#shared.get(number) : undefined;
    if (known !== undefined) return known;
    const { exchange, routingKey, own, notes } = replay.envelopes.get(number);
    const message = messageOf(exchange, routingKey, own, emptyBody, notes);
    message.slot = slotOf(number);
    inventory.bodies.pageOut(message, replay.sizes.get(number));
    if (isShared) this.#shared.set(number, message);
    return message;
  }
}
