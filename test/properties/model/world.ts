import type { ModelLot } from './settle.js';
/**
 * A naive model of dead lettering: plain arrays, searched and sorted anew each time, nothing shared with the engine.
 * It is slow and short, so that one can see that it is right.
 */

export type Reason = 'rejected' | 'expired' | 'maxlen' | 'delivery_limit';

export interface QueueSetup {
  readonly name: string;
  readonly type: 'classic' | 'quorum';
  readonly ttl?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly overflow?: 'drop-head' | 'reject-publish' | 'reject-publish-dlx' | undefined;
  readonly maxPriority?: number | undefined;
  readonly deliveryLimit?: number | undefined;
  /** The dead-letter exchange, and the key if one is set. */
  readonly deadLetters?: { readonly exchange: string; readonly key?: string | undefined } | undefined;
  /** Whether the fanout exchange and the delayed one lead here. */
  readonly bound: boolean;
}

export interface ModelMessage {
  readonly id: number;
  readonly size: number;
  readonly priority: number;
  readonly expiration: number | undefined;
  readonly exchange: string;
  readonly key: string;
  /** Its `x-delay`, negative when that is over. */
  readonly delay: number | undefined;
  /** Newest first, one per queue and reason (rules H6, H7). */
  readonly deaths: readonly { readonly queue: string; readonly reason: string; readonly count: number }[];
  /** `reason queue exchange` (rule H8). */
  readonly firstDeath: string | undefined;
}

/** A message in one queue. */
export interface Copy {
  readonly message: ModelMessage;
  position: number;
  readonly deadline: number | undefined;
  returns: number;
}

export interface ModelConsumer {
  readonly tag: string;
  readonly channel: number;
  readonly prefetch: number;
  readonly noAck: boolean;
  readonly priority: number;
}

export interface ModelQueue {
  readonly setup: QueueSetup;
  /** Quorum with a limit: what came back stands before the rest (rule D5). */
  returned: Copy[];
  line: Copy[];
  unacked: number;
  consumers: ModelConsumer[];
  deleted: boolean;
  /** Rule D7. */
  refusing: boolean;
  positions: number;
}

/** A message the delayed exchange holds back. */
export interface HeldBack {
  readonly message: ModelMessage;
  readonly due: number;
  readonly position: number;
}

/** A delivery that is not settled. */
export interface Held {
  readonly tag: number;
  readonly queue: ModelQueue;
  readonly copy: Copy;
  readonly consumer: string | undefined;
}

export interface Letter {
  readonly queue: ModelQueue;
  readonly message: ModelMessage;
  readonly reason: Reason;
}

/** The deliveries of the engine during a command, which the model checks. */
export interface Seen {
  readonly queue: string;
  readonly consumer: string;
  readonly tag: number;
  readonly redelivered: boolean;
  readonly deliveryCount: number;
  readonly message: string;
}

export interface World {
  now: number;
  /** Whether the engine has a pace, so that queues may be attended in parts. */
  readonly slices: boolean;
  queues: ModelQueue[];
  /** Of the delayed exchange, which routes as the fanout exchange does. */
  heldBack: HeldBack[];
  /** Its timer has rung. */
  isReleasing: boolean;
  /** The number of messages that it has held. */
  everHeldBack: number;
  /** Queues of the fanout exchange, in the order they were bound. */
  bound: string[];
  channels: { held: Held[] }[];
  /** Dead letters that are not published yet, in the order of their deaths (rule J1). */
  dead: Letter[];
  /** Parts of a settlement that wait until the queues are at rest (rule J6). */
  readonly lots: ModelLot[];
  /** Queues to be looked at when the command is over. */
  marked: string[];
  /** Of these the ones whose own timers rang, while something else happens at the same time. */
  ringing: string[];
  seen: Seen[];
  /** How copies left their queues, by message and rule; every other copy is still somewhere. */
  ledger: { readonly id: number; readonly why: string }[];
  copies: number;
}

/** The engine broke a rule. */
export class Mismatch extends Error {}

export function expect(fact: boolean, text: () => string): void {
  if (!fact) throw new Mismatch(text());
}

export const queueOf = (world: World, name: string): ModelQueue | undefined =>
  world.queues.find(({ setup }) => setup.name === name);

/** Ready messages, the next first. */
export const ready = (queue: ModelQueue): Copy[] => [...queue.returned, ...queue.line];

export const bytes = (copies: readonly Copy[]): number => copies.reduce((sum, { message }) => sum + message.size, 0);

/** All that can be seen of a message, as text. */
export const describeMessage = ({ id, exchange, key, expiration, delay, deaths, firstDeath }: ModelMessage): string =>
  [
    `#${id} to '${exchange}' ${key}`,
    expiration === undefined ? '' : `expires ${expiration}`,
    delay === undefined ? '' : `delay ${delay}`,
    ...deaths.map(({ queue, reason, count }) => `${queue}/${reason}/${count}`),
    firstDeath ?? '',
  ].join(' ');

/** All that can be seen of a queue, as text. */
export const describeQueue = (queue: ModelQueue): string =>
  [
    `${queue.setup.name}: ${queue.unacked} unacked, ${queue.consumers.length} consumers, ${bytes(ready(queue))} bytes`,
    ...ready(queue).map(
      (copy) => `  ${describeMessage(copy.message)} returns ${copy.returns} until ${copy.deadline ?? 'ever'}`,
    ),
  ].join('\n');

/** What is held back, what is due next first; due together, in the order it came. */
export const heldBack = (world: World): HeldBack[] =>
  world.heldBack.toSorted((one, other) => one.due - other.due || one.position - other.position);

/** All that can be seen of it, as text. */
export const describeHeldBack = (world: World): string =>
  heldBack(world)
    .map(({ message, due }) => `${describeMessage(message)} due ${due}`)
    .join('\n');

export function leave(world: World, copy: Copy, why: string): void {
  world.ledger.push({ id: copy.message.id, why });
}
