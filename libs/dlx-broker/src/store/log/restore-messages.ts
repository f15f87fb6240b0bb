import { type Broker, type MessageOwner, inRestoreOrder } from '../../broker/index.js';
import { type Message, messageOf, noBody } from '../../message/index.js';
import type { Integers } from './columns.js';
import { type Entry, Flag } from './entry-table.js';
import type { Recovered } from './recover.js';
import { slotOf } from './slot.js';

/** Puts all entries back into their queues, in the order that the core defines (section L). */
export class MessageRestorer {
  /** The number of the entry being restored: its queue may report it to the journal before it has a slot. */
  current = 0;
  #isChanged = false;
  #isShortened = false;
  /** Messages in several queues. */
  readonly #shared = new Map<number, Message>();

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

  restore(broker: Broker): void {
    for (const [number, { vhost, name }] of this.recovered.declared.queues()) {
      const home = broker.virtualHosts.get(vhost);
      const queue = home?.messageOwner(name);
      if (home === undefined || queue === undefined) continue;
      queue.slot = slotOf(number);
      this.#refill(queue, this.recovered.inventory.entries.of(number), home.scheduler.clock.now());
    }
  }

  #refill(queue: MessageOwner, numbers: Uint32Array, now: number): void {
    const { replay, inventory } = this.recovered;
    const { flags } = inventory.entries;
    const isHeld = (number: number): boolean => (flags.get(number) & Flag.Unacked) !== 0;
    const ordered = inOrder(numbers, replay.positions);
    const { deaths } = inventory;
    if (replay.returns.size === 0 && deaths.size === 0 && !ordered.some(isHeld))
      return this.#place(queue, ordered, now);
    const alive = ordered.filter((number) => !deaths.has(number));
    const hasReturned = (number: number): boolean => replay.returns.has(number) && !isHeld(number);
    const orderOf = (number: number): number => inventory.orders.get(number) ?? 0;
    const dead = ordered.filter((number) => deaths.has(number)).sort((one, other) => orderOf(one) - orderOf(other));
    const fresh = alive.filter((number) => !replay.returns.has(number) && !isHeld(number));
    const returned = alive.filter(hasReturned).sort((one, other) => orderOf(one) - orderOf(other));
    const held = alive.filter(isHeld);
    for (const part of [...inRestoreOrder(queue.declared, { fresh, returned, held }), dead])
      this.#place(queue, part, now);
  }

  #place(queue: MessageOwner, numbers: Uint32Array, now: number): void {
    const { replay, inventory } = this.recovered;
    const suspect = this.afterCrash && queue.declared.type === 'classic';
    for (const number of numbers) {
      const deadline = replay.deadlines.get(number);
      const returns = replay.returns.get(number) ?? 0;
      const delivered = (inventory.entries.flags.get(number) & Flag.Unacked) !== 0;
      // The clock may have been set back: no message lives longer than it could have when it was written.
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
      };
      this.current = number;
      this.#isChanged = delivered || (suspect && returns === 0);
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
    const message = messageOf(exchange, routingKey, own, noBody, notes);
    message.slot = slotOf(number);
    inventory.bodies.pageOut(message, replay.sizes.get(number));
    if (isShared) this.#shared.set(number, message);
    return message;
  }
}

/** Sorts by position, unless the entries are sorted already. */
function inOrder(numbers: Uint32Array, positions: Integers): Uint32Array {
  const before = (one: number, other: number): number => positions.get(one) - positions.get(other);
  for (let index = 1; index < numbers.length; index++) {
    if (before(numbers[index - 1] as number, numbers[index] as number) > 0) return numbers.sort(before);
  }
  return numbers;
}
