import { randomUUID } from 'node:crypto';
import type { Broker, Clock, Queue, User, VirtualHost } from '../../engine/broker/index.js';
import { AuditLog, type AuditSink } from '../audit/audit-log.js';
import { isOf, visibleVhosts } from '../http/auth.js';
import { jsonPieces } from '../http/json.js';
import { Problem } from '../http/reply.js';
import { SharedTurns, type Turns } from '../http/turns.js';
import { DeadLetterGraphs } from './graph/dead-letter-graph.js';
import { filterToJson } from './input.js';
import { LiveChanges, type LiveFilter } from './live-changes.js';
import type { QueueRedrive } from './redrives/queue-redrive.js';
import { sharedNames } from './redrives/redrive-order.js';
import { QueueRedrives } from './redrives/redrives.js';

/**
 * The milliseconds after which a client that reads nothing is disconnected, and the longest time between two events.
 */
const timeouts = { unread: 30_000, silence: 15_000 };

interface EventSource {
  readonly clock: Clock;
  /** The milliseconds between two events. */
  readonly interval: number;
  /**
   * Makes the next event; undefined if nothing has changed. It is called only when the client has read the last event.
   */
  nextEvent(): LiveEvent | undefined;
  /** True while the user may read events. */
  mayListen(): boolean;
  ended(stream: EventStream): void;
}

interface LiveEvent {
  readonly name: string;
  /** The event as JSON; long lists are `Rows`. */
  readonly data: unknown;
}

/**
 * Server-Sent Events for one client. Nothing is buffered: the next event is made when the client has read the last one,
 * and has all changes since. A client that reads nothing is disconnected.
 */
class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #source: EventSource;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #lastSent: number;
  #isOpen = true;

  constructor(source: EventSource) {
    this.#source = source;
    this.#lastSent = source.clock.now();
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        cancel: () => this.#end(),
      },
      { highWaterMark: 1 },
    );
    this.#tick();
  }

  /** Ends the response. */
  close(): void {
    if (!this.#isOpen) return;
    this.#end();
    this.#controller.close();
  }

  readonly #tick = (): void => {
    const { clock, interval } = this.#source;
    const now = clock.now();
    if (!this.#source.mayListen()) return this.close();
    if ((this.#controller.desiredSize ?? 0) > 0) this.#send(eventText(this.#source), now);
    else if (now - this.#lastSent >= timeouts.unread) return this.close();
    clock.wakeAt(now + interval, this.#tick);
  };

  #send(event: Buffer | undefined, now: number): void {
    if (event === undefined && now - this.#lastSent < timeouts.silence) return;
    this.#lastSent = now;
    // Without an event a comment is sent, because only a write detects a lost connection.
    this.#controller.enqueue(event ?? Buffer.from(':\n\n'));
  }

  #end(): void {
    this.#isOpen = false;
    this.#source.clock.wakeAt(undefined, this.#tick);
    this.#source.ended(this);
  }
}

/** The next event as bytes; undefined if nothing has changed. */
function eventText(source: EventSource): Buffer | undefined {
  const event = source.nextEvent();
  if (event === undefined) return undefined;
  return Buffer.from(`event: ${event.name}\ndata: ${[...jsonPieces(event.data)].join('')}\n\n`);
}

/** The most streams: in all, and of one user. */
const most = { all: 64, ofUser: 8 };

/** The open event streams. */
class EventStreams {
  readonly #streams = new Map<EventStream, string>();

  constructor(
    readonly broker: Broker,
    readonly redrives: QueueRedrives,
  ) {}

  get count(): number {
    return this.#streams.size;
  }

  /**
   * @param interval milliseconds between two events
   * @throws Problem 429 when too many streams are open
   */
  open(user: User, interval: number, filter: LiveFilter): EventStream {
    const ofUser = [...this.#streams.values()].filter((name) => name === user.name).length;
    if (this.count >= most.all || ofUser >= most.ofUser) {
      throw new Problem(429, 'too_many_requests', `${ofUser} streams of this user and ${this.count} in all are open`);
    }
    const { broker, redrives } = this;
    const changes = new LiveChanges(filter);
    const vhosts = (): readonly VirtualHost[] => this.#vhostsOf(user);
    let name = 'state';
    const stream = new EventStream({
      clock: broker.clock,
      interval,
      nextEvent: () => {
        const change = changes.since(vhosts(), redrives.list());
        if (change === undefined && name === 'change') return undefined;
        const event = {
          name,
          data: { time: broker.clock.now(), ...(change ?? { queues: [], gone: [], redrives: [] }) },
        };
        name = 'change';
        return event;
      },
      mayListen: () => isOf('management', broker.access.user(user.name) ?? noUser),
      ended: (ended) => void this.#streams.delete(ended),
    });
    this.#streams.set(stream, user.name);
    return stream;
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of this.#streams.keys()) stream.close();
  }

  /** The virtual hosts that the user may see now. */
  #vhostsOf(user: User): readonly VirtualHost[] {
    const now = this.broker.access.user(user.name) ?? noUser;
    return visibleVhosts(this.broker, now).map((name) => this.broker.virtualHosts.get(name) as VirtualHost);
  }
}

/** A user without rights, in the place of a deleted user. */
const noUser: User = { name: '', tags: [], passwordHash: undefined };

/**
 * Names for declarations of queues. The ids of messages are unique in one of them only: a queue that is deleted and declared anew
 * begins again, and gets another name here. So does every queue when the broker starts.
 */
class Instances {
  readonly #names = new WeakMap<Queue, string>();

  of(queue: Queue): string {
    let name = this.#names.get(queue);
    if (name === undefined) this.#names.set(queue, (name = randomUUID()));
    return name;
  }
}

/** The parts that {@link Dlx} gets from its host. All but the broker are optional. */
export interface DlxParts {
  readonly broker: Broker;
  /** Stores the audit log. */
  readonly audit?: AuditSink;
  readonly turns?: Turns;
  /** Gets internal errors, and no errors of clients. */
  readonly log?: (error: unknown) => void;
}

/** The state of `/api/dlx` that outlives a request: running redrives, the audit log, event streams. */
export class Dlx {
  readonly audit: AuditLog;
  readonly redrives: QueueRedrives;
  readonly streams: EventStreams;
  readonly turns: Turns;
  readonly instances = new Instances();
  readonly graphs: DeadLetterGraphs;
  readonly #sink: AuditSink | undefined;

  constructor({ broker, audit, turns = new SharedTurns(), log }: DlxParts) {
    this.#sink = audit;
    this.turns = turns;
    this.graphs = new DeadLetterGraphs(turns);
    this.audit = new AuditLog(() => broker.clock.now(), audit);
    this.redrives = new QueueRedrives({
      clock: broker.clock,
      ended: (task) => this.#ended(task),
      log,
    });
    this.streams = new EventStreams(broker, this.redrives);
  }

  /** Stops redrives, ends streams, and waits until the audit log is written. */
  async close(): Promise<void> {
    this.redrives.close();
    this.streams.close();
    await this.#sink?.close();
  }

  #ended({ id, order, state, reason, counts }: QueueRedrive): void {
    const { moved, left, gone, returned } = counts;
    const { vhost, queue } = sharedNames(order);
    this.audit.record({
      user: order.by,
      from: '',
      action: `redrive ${state}`,
      names: { ...(vhost !== undefined && { vhost }), ...(queue !== undefined && { name: queue }) },
      details: {
        task: id,
        ...(order.groups === undefined ? { filter: filterToJson(order.filter) } : { groups: order.groups.length }),
        moved,
        left,
        gone,
        returned,
        reason,
      },
    });
  }
}
