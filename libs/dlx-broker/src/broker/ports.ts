import type { Message } from '../message/index.js';
import type { AmqpError } from './errors.js';
import type { Entry } from './queue/entry.js';
import type { Queue } from './queue/queue.js';

/** Time, lent to the core. All times are milliseconds since 1970. */
export interface Clock {
  now(): number;
  /**
   * Asks for one call of `tick` at that time or a little later, never earlier. There is one request per `tick`: a new
   * one replaces it, `undefined` withdraws it.
   */
  wakeAt(time: number | undefined, tick: () => void): void;
}

/** Names the broker makes up: random in production, counted in tests. */
export interface Names {
  /** 22 characters of base64url, as in `amq.gen-...` and `amq.ctag-...` (rule O2). */
  token(): string;
}

/**
 * How long the broker may work before it lets its host breathe. Without a pace every command runs to its very end.
 * What clients see keeps to the same rules either way; what no rule settles, the order between several queues, may differ.
 */
export interface Pace {
  /** Steps (deliveries, dead letters, expiries) in one go. */
  readonly budget: number;
  /** Calls `resume` soon, after other work of the host. */
  later(resume: () => void): void;
}

/**
 * What is to outlive the process. All calls between two commits belong to one command and become true together: a dead
 * letter that leaves one queue and enters two others is one move. The journal decides what it keeps: durable queues,
 * and of classic ones only persistent messages (rule L1).
 */
export interface Journal {
  /** Exchanges, queues, bindings, policies and users: something of the topology of this virtual host changed. */
  changed(change: TopologyChange): void;
  enqueued(queue: Queue, entry: Entry): void;
  /** Back in its queue; its `returns`, and perhaps its position, have changed. */
  returned(queue: Queue, entry: Entry): void;
  /** Gone from the queue. An entry with position 0 never was in it: the queue refused it. */
  settled(queue: Queue, entry: Entry): void;
  /**
   * The end of a command, also of one that changed nothing. `synced`, if given, is called when all that was said so far is safe, at once or later: until
   * then publisher confirms wait.
   */
  commit(synced: (() => void) | undefined): void;
}

/** A change of what is declared, as plain data. */
export interface TopologyChange {
  readonly kind: 'vhost' | 'exchange' | 'queue' | 'binding' | 'policy' | 'user' | 'permission';
  readonly change: 'added' | 'removed';
  readonly vhost: string;
  readonly name: string;
  readonly details?: unknown;
}

/** A message on its way to a consumer. */
export interface Delivery {
  readonly consumerTag: string;
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly message: Message;
  /** The queue it comes from. */
  readonly queue: string;
  /** Quorum queues: how often it came back before this delivery (rule D3). */
  readonly deliveryCount: number;
}

/** A mandatory message nobody took (rule K4). */
export interface Returned {
  readonly replyCode: number;
  readonly replyText: string;
  readonly message: Message;
}

/**
 * Where a channel's output goes. The broker calls it after a command has run to its end, in order, and never inside
 * another call of it; whoever implements it may start new commands at once.
 */
export interface ChannelOutbox {
  deliver(delivery: Delivery): void;
  returned(returned: Returned): void;
  /** Publisher confirms: `ok` false is a nack (rule K1). */
  confirmed(deliveryTag: number, multiple: boolean, ok: boolean): void;
  /** The server ended a consumer: its queue is gone (rule Q6). */
  cancelled(consumerTag: string): void;
  /** The server closed the channel of its own accord, e.g. an acknowledgement timed out (rule Q8). */
  closed(error: AmqpError): void;
}

/** Where a connection's output goes. */
export interface ConnectionOutbox {
  /** The server closed the connection: forced by an operator, or a hard error in one of its channels. */
  closed(error: AmqpError): void;
}
