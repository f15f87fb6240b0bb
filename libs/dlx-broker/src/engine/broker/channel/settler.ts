import type { FieldTable } from '../../message/index.js';
import { checkTable } from '../commands/checks.js';
import { preconditionFailed } from '../errors.js';
import type { Profile } from '../profile.js';
import type { Task } from '../scheduler/task.js';
import type { Consumer, Prefetch } from './consumer.js';
import type { Outstanding } from './outputs.js';
import { areOneStep, inOrderOfPriority, type SettlementGroup, SettlementGroups } from './settlement-groups.js';
import {
  type Held,
  type HeldPublish,
  type HeldSettlement,
  inOrderOfCommit,
  type NextSettlement,
  type OneSettlement,
  type Settlement,
  type TransactionalChannel,
} from './transaction.js';
import { Unacked } from './unacked.js';

/** What a commit needs of its channel: how its publishes and settlements are applied. */
interface CommitHome {
  publish(held: HeldPublish, now: number): void;
  apply(settlement: OneSettlement, now: number): void;
  /**
   * Lets the queues deliver what is possible by now. @returns steps taken; as many as the limit when there may be more
   */
  serve(now: number, limit: number): number;
  /** Whether the queues deliver after each step of the order. */
  readonly deliversBetween: boolean;
  readonly profile: Profile;
}

/**
 * Publishes the messages of a transaction, then settles in the order of its commit (rules J6, K8, K12), in turns.
 */
class Committing implements Task {
  readonly #order: Iterator<NextSettlement | 'later', undefined>;
  #next: NextSettlement | 'later' | undefined;
  #mayDeliver = false;
  #isBegun = false;
  #nextPublish = 0;

  constructor(
    readonly publishes: readonly HeldPublish[],
    settlements: readonly HeldSettlement[],
    readonly home: CommitHome,
  ) {
    this.#order = inOrderOfCommit(settlements, home.profile);
  }

  work(now: number, limit: number): number {
    let steps = 0;
    for (; this.#nextPublish < this.publishes.length; this.#nextPublish++) {
      if (steps >= limit) return limit;
      const held = this.publishes[this.#nextPublish] as HeldPublish;
      this.home.publish(held, now);
      steps += Math.max(1, held.routed.queues.length);
    }
    while (steps < limit) {
      if (this.#mayDeliver) {
        steps += this.home.serve(now, limit - steps);
        if (steps >= limit) break;
        this.#mayDeliver = false;
      }
      if (this.#next === undefined) {
        if (this.#advance()) continue;
        return steps;
      }
      if (this.#next !== 'later') this.home.apply(this.#next, now);
      this.#next = undefined;
      steps++;
    }
    return limit;
  }

  /** Takes the next settlement. @returns false when there is none */
  #advance(): boolean {
    const { done, value } = this.#order.next();
    if (done === true) return false;
    this.#next = value;
    if (value === 'later') return true;
    this.#mayDeliver = this.#isBegun && value.isFirstOfStep && this.home.deliversBetween;
    this.#isBegun = true;
    return true;
  }
}

/** The number of deliveries that one step of the scheduler puts into their groups. */
const groupedPerStep = 16;

/** What a settlement of many deliveries needs of its channel. */
interface SettlingHome {
  /** The next delivery to be settled, undefined after the last. */
  next(): Outstanding | undefined;
  apply(record: Outstanding, now: number): void;
  /** Lets the queues deliver what is possible by now. @returns steps taken; as many as the limit when there may be more */
  serve(now: number, limit: number): number;
  /** Whether the channel is lost: then the queues deliver when all messages are back, and messages of `basic.get` are ordered differently. */
  readonly isLoss: boolean;
  readonly profile: Profile;
  /** Whether the queues deliver after each group. Otherwise they deliver after the last group. */
  readonly deliversBetween: boolean;
}

/**
 * A settlement of many deliveries, in turns. They are put into groups by queue and consumer, and settled group by group. A queue
 * delivers what a group makes possible before its next group is settled (rule J6).
 */
class Settling implements Task {
  readonly #groups = new SettlementGroups();
  #ordered: readonly SettlementGroup[] | undefined;
  #nextGroup = 0;
  #mayDeliver = false;

  constructor(readonly home: SettlingHome) {}

  work(now: number, limit: number): number {
    let steps = 0;
    while (steps < limit) {
      if (this.#ordered === undefined) {
        steps++;
        this.#group();
        continue;
      }
      if (this.#mayDeliver) {
        steps += this.home.serve(now, limit - steps);
        if (steps >= limit) break;
        this.#mayDeliver = false;
      }
      if (!this.#settleNext(this.#ordered, now)) return steps;
      steps++;
    }
    return limit;
  }

  #group(): void {
    for (let count = 0; count < groupedPerStep; count++) {
      const record = this.home.next();
      if (record === undefined) {
        this.#ordered = this.home.isLoss ? this.#groups.inOrderOfLoss(this.home.profile) : this.#groups.inOrder();
        return;
      }
      this.#groups.add(record);
    }
  }

  /** Settles the next delivery. @returns false when there is none */
  #settleNext(ordered: readonly SettlementGroup[], now: number): boolean {
    const group = ordered[this.#nextGroup];
    if (group === undefined) return false;
    const record = group.records.shift();
    if (record !== undefined) this.home.apply(record, now);
    const isEmpty = group.records.length === 0;
    if (isEmpty) this.#nextGroup++;
    this.#mayDeliver = this.home.deliversBetween && (isEmpty || group.isFetched);
    return true;
  }
}

/** The most steps that are done in the turn of the command. With a pace, further steps are done in later turns. */
export const stepsPerCommand = 256;

/** The limits of a channel's consumers, as settlements know them. */
interface Limits {
  /** The limit that all consumers of the channel share. */
  readonly prefetch: Prefetch;
  /** A delivery of this consumer was settled: there may be room for another one. */
  released(consumer: Consumer): void;
}

/** A channel's settling half: its unacknowledged deliveries, and how they are settled. */
export class Settler {
  readonly unacked = new Unacked();

  constructor(
    readonly channel: TransactionalChannel,
    readonly limits: Limits,
  ) {}

  /** Ack, nack, reject. @throws 406 when the tag is not outstanding here (rule A4) */
  settle(tag: number, multiple: boolean, settlement: Settlement, headers: FieldTable | undefined, now: number): void {
    checkTable('header', headers);
    const held = this.channel.transaction;
    if (!multiple) {
      const record = this.unacked.take(tag);
      if (record === undefined) throw preconditionFailed(`unknown delivery tag ${tag}`);
      if (held !== undefined) held.settlements.push({ records: [record], settlement, headers });
      else this.#apply(record, settlement, headers, now);
      return;
    }
    // Rule A3: tag 0 means all deliveries, and is no error when there are none. Rule A4: a tag beyond the last is an error.
    if (tag !== 0 && !this.unacked.reaches(tag)) throw preconditionFailed(`unknown delivery tag ${tag}`);
    if (held === undefined) this.#settleUpTo(tag, settlement, headers, now);
    else held.settlements.push({ records: this.unacked.takeUpTo(tag), settlement, headers });
  }

  /** `basic.recover`: all outstanding deliveries return (rule Q5). */
  recover(now: number): void {
    // A rollback restores deliveries, which is not allowed while a task settles deliveries that were handed over.
    if (this.channel.transaction === undefined) this.#settleUpTo(0, 'return', undefined, now);
    else this.#settleMany(this.unacked.takeUpTo(0), 'return', undefined, now);
  }

  /** A delivery returns that was not sent. @returns false when it is not outstanding */
  takeBack(tag: number): boolean {
    const record = this.unacked.take(tag);
    const { scheduler } = this.channel;
    if (record !== undefined) scheduler.batch(() => this.#apply(record, 'return', undefined, scheduler.time));
    return record !== undefined;
  }

  /** The outstanding deliveries, and those that the transaction is to settle. */
  eachUnsettled(visit: (record: Outstanding) => void): void {
    this.unacked.each(visit);
    for (const { records } of this.channel.transaction?.settlements ?? []) records.forEach(visit);
  }

  /** A delivery timed out: it returns to its queue, and is outstanding until the client settles it (rule Q8). */
  release(record: Outstanding, now: number): void {
    record.consumer?.late();
    this.#apply(record, 'return', undefined, now);
    record.isReleased = true;
  }

  /** The channel is closed: all outstanding deliveries return (rule A8). */
  loseAll(now: number): void {
    this.#settleUpTo(0, 'lost', undefined, now);
  }

  /** The commit of a transaction. Queues deliver after each step of its settlements (rules J6, K12). */
  committing({ publishes, settlements }: Held, publish: CommitHome['publish']): Committing {
    const { scheduler, vhost } = this.channel;
    return new Committing(publishes, settlements, {
      publish,
      apply: ({ record, held }, now) => this.#apply(record, held.settlement, held.headers, now),
      serve: (now, limit) => scheduler.serveQueues(now, limit),
      deliversBetween: this.#deliversBetween,
      profile: vhost.profile,
    });
  }

  /** False with a shared limit, which has room again only when all deliveries are settled. */
  get #deliversBetween(): boolean {
    return this.limits.prefetch.limit === 0;
  }

  /** Settles all deliveries up to a tag: few of them now, many in a task of the scheduler. */
  #settleUpTo(tag: number, settlement: Settlement, headers: FieldTable | undefined, now: number): void {
    const { count } = this.unacked;
    if (count === 0) return;
    const places = count <= stepsPerCommand ? count : this.unacked.reachOf(tag);
    if (places <= stepsPerCommand) return this.#settleMany(this.unacked.takeUpTo(tag), settlement, headers, now);
    const records = this.unacked.handOver(places);
    const next = (): Outstanding | undefined => {
      let record = records.shift();
      while (record?.settled === true) record = records.shift();
      if (record !== undefined) record.settled = true;
      return record;
    };
    this.#schedule(next, settlement, headers);
  }

  #settleMany(
    records: readonly Outstanding[],
    settlement: Settlement,
    headers: FieldTable | undefined,
    now: number,
  ): void {
    if (records.length <= stepsPerCommand && areOneStep(records)) {
      for (const record of inOrderOfPriority(records)) this.#apply(record, settlement, headers, now);
      return;
    }
    let next = 0;
    const { leaving } = this.channel.vhost;
    for (const record of records) leaving.add(record);
    this.#schedule(() => records[next++], settlement, headers);
  }

  /** Rule J6. */
  #schedule(next: () => Outstanding | undefined, settlement: Settlement, headers: FieldTable | undefined): void {
    const isLoss = settlement === 'lost';
    this.channel.scheduler.schedule(
      new Settling({
        next,
        apply: (record, now) => {
          this.channel.vhost.leaving.delete(record);
          this.#apply(record, settlement, headers, now);
        },
        serve: (now, limit) => this.channel.scheduler.serveQueues(now, limit),
        isLoss,
        profile: this.channel.vhost.profile,
        deliversBetween: !isLoss && this.#deliversBetween,
      }),
    );
  }

  /** A transaction was discarded: its deliveries are outstanding again (rule K8). */
  restore(records: readonly Outstanding[]): void {
    this.unacked.restore(records);
  }

  #apply(record: Outstanding, settlement: Settlement, headers: FieldTable | undefined, now: number): void {
    const { from, entry, consumer } = record;
    if (record.isReleased) return consumer?.caughtUp();
    if (settlement === 'ack') {
      from.settle(entry, now);
      from.counters.ack++;
      this.channel.counters.ack++;
      this.channel.vhost.counters.ack++;
      if (from.declared.type === 'quorum') this.channel.vhost.globals.quorum.ack++;
    } else if (settlement === 'reject' || settlement === 'discard') {
      from.reject(entry, now, settlement === 'reject', headers);
    } else from.giveBack(entry, now, settlement);
    if (consumer === undefined) from.consumers.holders--;
    else this.limits.released(consumer);
  }
}
