import { AmqpError, type Entry, openExchange, type Queue, type Settled } from '../../../engine/broker/index.js';
import {
  type Address,
  compact,
  type Field,
  type FieldTable,
  longstr,
  Message,
  emptyBody,
  Repeated,
  timestamp,
} from '../../../engine/message/index.js';
import { headersForRedrive, originOf } from '../../../platform/history/index.js';
import type { Left, RedriveCounts } from '../../redrive/index.js';
import type { RedriveOrder } from './redrive-order.js';

/** The headers of a redriven message, besides the number of its redrives. */
export const redrivenHeaders = {
  /** The queue from which it was taken. */
  from: 'dlx-redriven-from',
  /** Seconds since 1970. */
  at: 'dlx-redriven-at',
  /** The user. */
  by: 'dlx-redriven-by',
  /** The id of the redrive. */
  task: 'dlx-redriven-task',
} as const;

export interface RedriveNote {
  readonly from: string;
  readonly by: string;
  readonly task: string;
  /** Keeps deaths, attempts and errors: the message is put aside. */
  readonly keepsHistory: boolean;
}

/** Makes the headers of redriven messages, with their source, their user and their time. Messages with the same headers share them. */
export class RedrivenHeaders {
  readonly #last = new Repeated<FieldTable>();

  constructor(private readonly note: RedriveNote) {}

  /** @param now milliseconds since 1970 */
  of(message: Message, now: number): FieldTable {
    const { from, by, task, keepsHistory } = this.note;
    const carried = keepsHistory ? message.properties.headers : headersForRedrive(message, now);
    const seconds = Math.floor(now / 1000);
    return this.#last.of([carried, seconds], () => {
      const headers = new Map<string, Field>(carried);
      if (keepsHistory) for (const name of ['CC', 'BCC']) headers.delete(name); // `CC` and `BCC` would be further addresses
      headers.set(redrivenHeaders.from, longstr(from));
      headers.set(redrivenHeaders.at, timestamp(seconds));
      headers.set(redrivenHeaders.by, longstr(by));
      headers.set(redrivenHeaders.task, longstr(task));
      return compact(headers); // here, because the publish would compact them for each message
    });
  }
}

/** The most destinations whose dead letters are counted. */
const mostDeadLettering = 50;

/** Moves single messages to their address, and counts the results. */
export class Mover {
  readonly #known = new Set<string>();
  readonly #headers: RedrivenHeaders;

  /** @param settled called for each moved message, when the journal has stored it or has failed */
  constructor(
    readonly order: RedriveOrder,
    task: string,
    readonly counts: RedriveCounts,
    readonly settled: Settled,
  ) {
    const { by, queue, keepsHistory = false } = order;
    this.#headers = new RedrivenHeaders({ from: queue.name, by, task, keepsHistory });
  }

  /** The reason why no message can be moved now; undefined if there is none. */
  fault(): string | undefined {
    const { vhost, queue, user } = this.order;
    if (queue.deleted) return `queue '${queue.name}' is gone`;
    return refusalOf(() => vhost.check(user, 'read', 'queue', queue.name))?.message;
  }

  /**
   * @param edited a message whose properties and body replace those of the moved message
   * @returns the queues that got the message, or would in a dry run; undefined if it stayed
   */
  move(entry: Entry, now: number, edited?: Message): readonly string[] | undefined {
    const { order, counts } = this;
    const { message, position } = entry;
    const to = order.to ?? recordedIn(message);
    // An origin that only headers name is not used: the publisher of the message may have written them.
    if (to === undefined)
      return void counts.leave(originOf(message) ? 'unproven_origin' : 'no_origin', undefined, position);
    const headers = this.#headers.of(edited ?? message, now);
    const shown = new Message(message.exchange, message.routingKey, { headers }, emptyBody);
    const result = this.#try(entry, to, shown, edited);
    if (result === 'gone') return void counts.gone++;
    if (typeof result === 'string') return void counts.leave(result, to, position);
    counts.moved++;
    counts.arrived(result);
    return result;
  }

  /** The queues that get the dead letters of these queues. Each is computed once. */
  *deadLetterQueuesOf(message: Message, queues: readonly string[]): Iterable<Queue> {
    const { vhost } = this.order;
    for (const name of queues) {
      if (this.#known.has(name) || this.#known.size >= mostDeadLettering) continue;
      this.#known.add(name);
      const { deadLetterExchange: exchange, deadLetterRoutingKey } = vhost.queues.get(name)?.settings ?? {};
      if (exchange === undefined || !vhost.exchanges.has(exchange)) continue;
      const key = deadLetterRoutingKey ?? (this.order.to ?? message.origin)?.routingKey ?? '';
      for (const dead of vhost.wouldRoute(exchange, key, message)) yield vhost.queues.get(dead) as Queue;
    }
  }

  #try(
    entry: Entry,
    { exchange, routingKey }: Address,
    shown: Message,
    edited: Message | undefined,
  ): readonly string[] | Left | 'gone' {
    const { vhost, queue, user, dryRun, keepsHistory } = this.order;
    const refusal = refusalOf(() => {
      vhost.check(user, 'write', 'exchange', exchange);
      const found = vhost.exchanges.get(exchange);
      if (found !== undefined) vhost.checkTopic(user, 'write', found, routingKey); // rule N5
    });
    if (refusal !== undefined) return 'forbidden';
    try {
      if (dryRun) {
        openExchange(vhost, exchange);
        const queues = vhost.wouldRoute(exchange, routingKey, shown);
        return queues.length === 0 ? 'unroutable' : queues;
      }
      const { headers } = shown.properties;
      const origin = keepsHistory ? entry.message.origin : undefined;
      const { settled } = this;
      const result = vhost.redrive(queue, entry, { exchange, routingKey, headers, origin, edited, settled });
      return result.outcome === 'moved' ? result.queues : result.outcome;
    } catch (error) {
      if (!(error instanceof AmqpError)) throw error;
      return error.reply === 'NOT_FOUND' ? 'no_exchange' : 'forbidden';
    }
  }
}

const recordedIn = ({ origin }: Message): Address | undefined =>
  origin && { exchange: origin.exchange, routingKey: origin.routingKey };

function refusalOf(check: () => void): AmqpError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof AmqpError) return error;
    throw error;
  }
}
