import type { Broker, Channel, Clock, Journal, Queue } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { Broker as FreshBroker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { MemoryJournal } from '../durability/memory-journal.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { describeEngineMessage, heldIn } from './engine-under-test.js';

type Entry = Parameters<Journal['enqueued']>[1];

/** A copy of a message as it must outlive a crash: where, which, with what deaths, until when. */
interface Remaining {
  readonly text: string;
  readonly position: number;
  readonly priority: number | undefined;
  /** True if a consumer has it, or had it (rule J3). */
  readonly touched: boolean;
}

export type Remains = ReadonlyMap<string, readonly Remaining[]>;

const remaining = (entry: Entry, touched: boolean): Remaining => ({
  text: `${describeEngineMessage(entry.message)} until ${entry.deadline}`,
  position: entry.position,
  priority: entry.message.properties.priority,
  touched: touched || entry.returns > 0,
});

/** Of what an exchange holds back all that counts is in the text. */
function remainingHeld(entry: Entry): Remaining {
  const plain = remaining(entry, false);
  return { ...plain, text: `${plain.text} due ${entry.due} as ${entry.position}` };
}

/**
 * Every copy there is in this very moment, by queue: ready ones first and in order, then those in consumers' hands or
 * in the middle of a settlement, then dead ones that have not arrived anywhere yet. And what delayed exchanges hold.
 * @param closed channels that may still return deliveries
 */
export function remainsOf(broker: Broker, closed: readonly Channel[] = []): Remains {
  const vhost = broker.virtualHost('/');
  const found = new Map<{ readonly name: string }, Remaining[]>();
  for (const queue of vhost.queues.values()) {
    const copies: Remaining[] = [];
    queue.peek((entry) => void copies.push(remaining(entry, false)));
    found.set(queue, copies);
  }
  const inHands = ({ from, entry }: { readonly from: Queue; readonly entry: Entry }): void => {
    if (!diesByLoss(from, entry)) found.get(from)?.push(remaining(entry, true));
  };
  const open = [...vhost.connections].flatMap(({ channels }) => [...channels]);
  for (const { receiver } of new Set([...open, ...closed])) receiver.settler.unacked.each(inHands);
  for (const record of vhost.leaving) inHands(record);
  vhost.dead.each(({ queue, entry, reason }) => {
    const wasHeld = reason === 'rejected' || reason === 'delivery_limit';
    if (entry.position > 0) found.get(queue)?.push(remaining(entry, wasHeld)); // a refused one never was in there
  });
  const remains = new Map([...found].map(([queue, copies]) => [queue.name, copies]));
  for (const { delayed } of vhost.exchanges.values()) {
    if (delayed !== undefined) remains.set(delayed.name, heldIn(delayed).map(remainingHeld));
  }
  return remains;
}

/** Rules D2, A7: for a quorum queue the crash is one return more, and that may be one too many. */
function diesByLoss({ settings }: Queue, { failures }: Entry): boolean {
  const { deliveryLimit, deadLetterExchange } = settings;
  return deliveryLimit !== undefined && failures + 1 > deliveryLimit && deadLetterExchange === undefined;
}

/** A broker restored from the durable state. It does no work until {@link Reborn.live}. */
export class Reborn {
  readonly broker: Broker;
  readonly #resumes: (() => void)[] = [];
  readonly #pace = { budget: 0, later: (resume: () => void) => void this.#resumes.push(resume) };

  constructor(
    readonly journal: MemoryJournal,
    now: number,
  ) {
    const clock: Clock = { now: () => now, wakeAt() {} };
    const patterns = { compile: () => ({ matches: () => true }) };
    this.broker = new FreshBroker({ clock, names: new CountedNames(), patterns, journal, pace: this.#pace });
    journal.restore(this.broker);
  }

  /** Lets messages expire, applies limits and publishes dead letters. */
  live(): void {
    this.#pace.budget = 1_000;
    for (let resume = this.#resumes.shift(); resume !== undefined; resume = this.#resumes.shift()) resume();
    this.journal.sync();
  }
}

const sorted = (copies: readonly Remaining[]): string[] => copies.map(({ text }) => text).sort();

/** The changes by a crash, for each queue; undefined if no message is lost, doubled or out of order. */
export function lossBetween(before: Remains, after: Broker): string | undefined {
  const now = remainsOf(after);
  const vhost = after.virtualHost('/');
  for (const name of new Set([...before.keys(), ...now.keys()])) {
    const was = before.get(name);
    const is = now.get(name);
    if (was === undefined || is === undefined) return `queue ${name} ${was ? 'is gone' : 'came back'}`;
    const [lost, found] = [sorted(was), sorted(is)];
    if (lost.join('\n') !== found.join('\n')) {
      return `${name} had\n  ${lost.join('\n  ')}\nand now has\n  ${found.join('\n  ')}`;
    }
    const queue = vhost.queues.get(name);
    if (queue === undefined) continue; // what an exchange holds has no other order than that of the times
    const disorder =
      queue.declared.type === 'classic'
        ? disorderOf(was, is, queue)
        : untouchedDisorder(was, is, vhost.profile.quorumPriorities);
    if (disorder !== undefined) return `${name}: ${disorder}`;
  }
  return undefined;
}

/** Rules J2, L1: a returned message has its old place, and only one that a consumer had is redelivered. */
function disorderOf(was: readonly Remaining[], is: readonly Remaining[], queue: Queue): string | undefined {
  const highest = queue.settings.maxPriority ?? 0;
  const level = ({ priority }: Remaining): number => Math.min(priority ?? 0, highest);
  const show = ({ text, touched }: Remaining): string => `${text}${touched ? ' again' : ''}`;
  const should = [...was].sort((one, other) => level(other) - level(one) || one.position - other.position).map(show);
  const order = is.map(show);
  return should.join('\n') === order.join('\n')
    ? undefined
    : `in order\n${order.join('\n')}\nnot\n${should.join('\n')}`;
}

/** Quorum queues put returned messages elsewhere (rule D5). Others keep their order, since RabbitMQ 4 in each priority (rule W8). */
function untouchedDisorder(
  was: readonly Remaining[],
  is: readonly Remaining[],
  hasPriorities: boolean,
): string | undefined {
  const level = ({ priority = 4 }: Remaining): number => (hasPriorities ? Math.min(priority, 31) : 0);
  const fresh = (copies: readonly Remaining[]): Remaining[] => copies.filter(({ touched }) => !touched);
  const show = (copies: readonly Remaining[]): string => copies.map(({ text }) => text).join('\n');
  // One that died but has not arrived is back at its place.
  const should = show(fresh(was).sort((one, other) => level(other) - level(one) || one.position - other.position));
  const order = show(fresh(is));
  return order === should ? undefined : `in order\n${order}\nnot\n${should}`;
}
