import type { Message, StoredBody, StoreSlot } from '../message/index.js';
import type { TopologyChange } from './declarations.js';
import type { AmqpError } from './errors.js';
import type { Entry, Place, RetainedDeath } from './queue/entry.js';

/** The result of a publish. Flags, of which several can be set (rule C10). */
export const enum Outcome {
  Unroutable = 0,
  Routed = 1,
  Refused = 2,
  /** A queue drops, in later turns, messages that this one displaced. */
  Dropping = 4,
}

/** The clock of the core, provided by the host. All times are milliseconds since 1970. */
export interface Clock {
  now(): number;
  /**
   * Asks for one call of `tick` at that time or a little later, never earlier. There is one request per `tick`: a new
   * one replaces it, `undefined` withdraws it.
   */
  wakeAt(time: number | undefined, tick: () => void): void;
}

/** Generates names for the broker: random in production, counted in tests. */
export interface Names {
  /** 22 characters of base64url, as in `amq.gen-...` and `amq.ctag-...` (rule O2). */
  token(): string;
}

/**
 * Limits the steps that the broker takes before it yields to its host. Without a pace every command runs to its end in one turn. All
 * rules hold either way. Only the order between several queues may differ, for which there is no rule.
 */
export interface Pace {
  /** The most steps (deliveries, dead letters, expiries) in one turn. */
  readonly budget: number;
  /** Calls `resume` soon, after other work of the host. */
  later(resume: () => void): void;
}

/** An object whose messages the journal may store: a queue, or the delayed messages of an exchange. */
export interface MessageOwner {
  /** Written and read by the store only; undefined while the store does not have this object. */
  slot: StoreSlot | undefined;
  /** Unique in its virtual host. */
  readonly name: string;
  readonly home: { readonly name: string };
  readonly declared: { readonly type: string; readonly durable: boolean; readonly owner: unknown };
  /** Puts a stored message back after a restart (section L). */
  restore(message: Message, place: Place, now: number): Entry;
}

/**
 * Stores entries that a queue keeps as rows: the queue drops the objects of the entry and its message, and the store keeps their
 * records. The number of a row is from 1 to 2^32 - 1.
 */
export interface RowStore {
  /**
   * Whether the store has all of this entry and its message on disk, and no other entry has the message. The entry is in its queue, and
   * its body is not in memory.
   */
  hasAll(entry: Entry): boolean;
  /** Called before the queue drops an entry and its message for which {@link hasAll} was true. @returns the number of the row */
  forget(entry: Entry): number;
  /** Undoes {@link forget}: gives the entry and the message of a row their slots, and the message its body. @param size bytes of the body */
  recall(number: number, entry: Entry, size: number): void;
  /** The body of a row, for a copy of its message. It stays readable when the row is gone. */
  bodyOf(number: number, size: number): StoredBody;
}

/** Called once: everything is durable, or, with an error, durability is unknown. */
export type Settled = (failure?: Error) => void;

/**
 * Receives every change that may have to outlive the process. All calls between two commits belong to one command and are stored
 * together: a dead letter that leaves one queue and enters two others is one move. The journal decides what it stores: durable
 * queues, and in classic ones only persistent messages (rule L1).
 */
export interface Journal {
  /** The number of changes received so far. A command that adds no change need not wait for the journal. */
  readonly sequence: number;
  /** Why the journal refuses durable messages, as a text for logs and errors; undefined while it accepts them. */
  readonly trouble?: string | undefined;
  /** True after a permanent failure: nothing is stored any more. */
  readonly hasFailed?: boolean;
  /** Stores rows for queues; undefined if entries and messages have to stay objects. */
  readonly rows?: RowStore | undefined;
  /** Whether the journal has no room for this message of this queue, so that its publish is refused. Dead letters are never refused. */
  refuses(queue: MessageOwner, message: Message): boolean;
  /**
   * The topology has changed. Objects that the broker itself declares in every virtual host are not reported.
   */
  changed(change: TopologyChange): void;
  enqueued(queue: MessageOwner, entry: Entry): void;
  /**
   * The entry is unacknowledged: after a restart it counts as redelivered (rule L1). `settled` follows at once for a
   * consumer without acks.
   */
  delivered(queue: MessageOwner, entry: Entry): void;
  /** The entry is back in its queue; its `returns`, and perhaps its position, have changed. */
  returned(queue: MessageOwner, entry: Entry): void;
  /**
   * The entry died under at-least-once: it stays in its queue until every target queue has it (rule M3). Then `settled`
   * follows.
   */
  died(queue: MessageOwner, entry: Entry, death: RetainedDeath): void;
  /**
   * This message is in no queue, and may outlive the message whose body it shares. From now on it shares no body. The body is not
   * read from disk.
   */
  detached?(message: Message): void;
  /** The entry has left the queue. An entry with position 0 was never in the queue, which refused it. */
  settled(queue: MessageOwner, entry: Entry): void;
  /**
   * Called at the end of every command, even if it changed nothing. The journal calls `settled`, if given, when all changes so far are
   * durable, or with the error, at once or later. Publisher confirms wait for that call. It covers all commits before it, so of
   * several callbacks only the last has to be called.
   */
  commit(settled: Settled | undefined): void;
}

/** A message on its way to a consumer. */
export interface Delivery {
  readonly consumerTag: string;
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly message: Message;
  /** The body: in memory until `deliver` returns, even if the store pages the message's body out. */
  readonly body: Uint8Array;
  /** The queue it comes from. */
  readonly queue: string;
  /** In quorum queues the number of its returns before this delivery (rule D3). */
  readonly deliveryCount: number;
}

/** A mandatory message that no queue got (rule K4). */
export interface Returned {
  readonly replyCode: number;
  readonly replyText: string;
  readonly message: Message;
}

/**
 * Receives a channel's output. The broker calls it after a command has run to its end, in order, and never inside another call of it.
 * An implementation may start new commands in these calls, except where noted.
 */
export interface ChannelOutbox {
  /**
   * Announces a message that will be delivered. Called inside a command, so no other command may be started.
   * @returns false to get no further message until `Channel.resume`
   */
  reserve?(bytes: number): boolean;
  deliver(delivery: Delivery): void;
  /** Returns and confirms of earlier publishes may come after the error that ended the channel. */
  returned(returned: Returned): void;
  /** Publisher confirms: `ok` false is a nack (rule K1). */
  confirmed(deliveryTag: number, multiple: boolean, ok: boolean): void;
  /**
   * Whether the client still waits for the reply to its request. Absent where this is unknown, as for every client
   * behind a socket. Called inside a command.
   */
  awaits?(correlationId: string | undefined): boolean;
  /**
   * The server ended a consumer: its queue is gone (rule Q6), or a delivery timed out (rule Q8).
   * @returns false if the client does not know `basic.cancel` of a server
   */
  cancelled(consumerTag: string): boolean | void;
  /** The server closed the channel of its own accord, e.g. an acknowledgement timed out (rule Q8). */
  closed(error: AmqpError): void;
}

/** An outbox that ignores all output, for callers that need no answers. */
export const silentOutbox: ChannelOutbox = {
  deliver() {},
  returned() {},
  confirmed() {},
  cancelled() {},
  closed() {},
};

/** Receives a connection's output. */
export interface ConnectionOutbox {
  /** The server closed the connection: forced by an operator, or a hard error in one of its channels. */
  closed(error: AmqpError): void;
}
