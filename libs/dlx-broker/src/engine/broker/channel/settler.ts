import type { FieldTable } from '../../message/index.js';
import { preconditionFailed } from '../errors.js';
import { checkTable } from '../commands/input-checks.js';
import { type CommitHome, Committing } from './committing.js';
import { areOneStep } from './settlement-groups.js';
import type { Consumer, Prefetch } from './consumer.js';
import type { Outstanding } from './outstanding.js';
import { inOrderOfPriority } from './records-by-priority.js';
import { Settling } from './settling.js';
import type { Held, Settlement, TransactionalChannel } from './transaction.js';
import { Unacked } from './unacked.js';

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

  /** The channel is closed: all outstanding deliveries return (rule A8). */
  loseAll(now: number): void {
    this.#settleUpTo(0, 'lost', undefined, now);
  }

  /** The commit of a transaction. Queues deliver after each step of its settlements (rules J6, K12). */
  committing({ publishes, settlements }: Held, publish: CommitHome['publish']): Committing {
    const { scheduler } = this.channel;
    return new Committing(publishes, settlements, {
      publish,
      apply: ({ record, held }, now) => this.#apply(record, held.settlement, held.headers, now),
      serve: (now, limit) => scheduler.serveQueues(now, limit),
      deliversBetween: this.#deliversBetween,
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
    if (settlement === 'ack') {
      from.settle(entry, now);
      from.counters.ack++;
      this.channel.counters.ack++;
      this.channel.vhost.counters.ack++;
      if (from.declared.type === 'quorum') this.channel.vhost.globals.quorum.ack++;
    } else if (settlement === 'reject') from.reject(entry, now, headers);
    else from.giveBack(entry, now, settlement);
    if (consumer === undefined) from.consumers.holders--;
    else this.limits.released(consumer);
  }
}
