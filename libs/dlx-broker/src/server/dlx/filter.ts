import type { Cursor, Entry, Queue } from '../../engine/broker/index.js';
import { type Field, fromField, type Message } from '../../engine/message/index.js';
import { fingerprintIn, recordedAddressOf, workQueueOf } from '../../platform/history/index.js';
import { bodyOf, UnreadableBodies } from './message-json.js';
import { diedIn, failedOf, reasonOf, timeOf } from './letter-facts.js';

/** The messages that are examined between two pauses. */
const stride = 64;

interface Scan {
  readonly queue: Queue;
  /** The test of messages. Default: all messages. */
  readonly matches: Matches | undefined;
  /** Where to begin. Default: the first message. */
  readonly after?: Cursor | undefined;
  /** The most messages to examine. */
  readonly most: number;
  /** Milliseconds since 1970, for ages. */
  readonly now: () => number;
  /** Called for each matching message; false ends the scan after it. */
  readonly found: (entry: Entry) => boolean;
}

export interface Scanned {
  /** The number of examined messages. */
  readonly scanned: number;
  /** Where the next scan begins; undefined at the end of the queue. */
  readonly next: Cursor | undefined;
}

/**
 * Reads the ready messages of a queue in order, and changes nothing. Yields wherever it may pause. It finds its place
 * again by the position of the last message, because messages come and go in a pause. A message that left is not found.
 */
export function* scan({ queue, matches, after, most, now, found }: Scan): Generator<void, Scanned, void> {
  let cursor = after;
  let scanned = 0;
  while (scanned < most && !queue.deleted) {
    const { entries, sections, next } = queue.browse({ after: cursor, limit: Math.min(stride, most - scanned) });
    const time = now();
    const left = leftSoFar(queue);
    for (const [index, seen] of entries.entries()) {
      // A pause may be as long as a slow client takes. What left in it is not shown any more.
      const entry = leftSoFar(queue) === left ? seen : queue.find(seen.position);
      if (entry === undefined) continue;
      scanned++;
      if (matches !== undefined && !matches(entry.message, time)) continue;
      if (!found(entry)) {
        const here = { section: sections[index] as number, position: entry.position };
        return { scanned, next: index === entries.length - 1 ? next : here };
      }
      yield;
    }
    if (next === undefined) return { scanned, next };
    cursor = next;
    yield;
  }
  return { scanned, next: queue.deleted ? undefined : cursor };
}

/**
 * A number that grows with each message that leaves a queue for good, and with some that come back. While it is the same, none has
 * left.
 */
const leftSoFar = ({ lastPosition, length, unacked, delayed }: Queue): number =>
  lastPosition - length - unacked - delayed;

/** A cursor as text. */
export const cursorText = (cursor: Cursor | undefined): string | null =>
  cursor === undefined ? null : `${cursor.section}-${cursor.position}`;

/** The cursor of a string; undefined if the text is invalid. */
export function cursorOf(text: string): Cursor | undefined {
  const [, section, position] = /^(\d{1,4})-(\d{1,16})$/.exec(text) ?? [];
  return section === undefined ? undefined : { section: Number(section), position: Number(position) };
}

/**
 * Selects messages of a queue: those that match every part of the filter. An empty reason, queue, error or fingerprint
 * selects messages without one; an empty exchange is the default exchange.
 */
export interface MessageFilter {
  /** The reason of the latest death; `parked` for messages that a handler parked and that never died. */
  readonly reason?: string;
  /** The queue of the latest death. */
  readonly queue?: string;
  /** The queue of the first death. */
  readonly firstQueue?: string;
  /** The exchange of the first publish. */
  readonly exchange?: string;
  readonly routingKey?: string;
  /** The class of an error, or its kind as the groups show it. */
  readonly error?: string;
  /** The fingerprint of its error. */
  readonly fingerprint?: string;
  /** The headers that a message must have: with a value, or with any value. */
  readonly headers?: readonly WantedHeader[];
  /** A string in the first {@link searchedBytes} of the body, case-sensitive. */
  readonly text?: string;
  /** Milliseconds since its latest death, or since its publisher sent it. */
  readonly olderThan?: number;
  readonly youngerThan?: number;
}

export interface WantedHeader {
  readonly name: string;
  readonly value: string | undefined;
}

/** The number of bytes at the beginning of a body that are searched for a string. */
const searchedBytes = 65_536;

type Test = (message: Message, now: number) => boolean;

/** The test that a filter is compiled to. */
export type Matches = Test;

/** One row for each part of a filter; the slow ones are last. */
const tests: readonly ((filter: MessageFilter, unread: UnreadableBodies) => Test | undefined)[] = [
  ({ headers }) => headers && ((message) => headers.every((wanted) => hasHeader(message, wanted))),
  ({ error }) => ifGiven(error, (wanted) => (message) => failedOf(message, wanted)),
  ({ reason }) => ifGiven(reason, (wanted) => (message) => (reasonOf(message) ?? '') === wanted),
  ({ queue }) => ifGiven(queue, (wanted) => (message) => (diedIn(message) ?? '') === wanted),
  ({ firstQueue }) => ifGiven(firstQueue, (wanted) => (message) => (workQueueOf(message) ?? '') === wanted),
  ({ exchange }) => ifGiven(exchange, (wanted) => (message) => recordedAddressOf(message).exchange === wanted),
  ({ routingKey }) => ifGiven(routingKey, (wanted) => (message) => recordedAddressOf(message).routingKey === wanted),
  ({ fingerprint }) => ifGiven(fingerprint, (wanted) => (message) => (fingerprintIn(message) ?? '') === wanted),
  ({ olderThan }) => ifGiven(olderThan, (age) => (message, now) => ageOf(message, now, -Infinity) > age),
  ({ youngerThan }) => ifGiven(youngerThan, (age) => (message, now) => ageOf(message, now, Infinity) < age),
  ({ text }, unread) => ifGiven(text, (wanted) => containsText(wanted, unread)),
];

/** The test of a filter; undefined if it selects every message. @param unread counts bodies that could not be read */
export function matcherOf(filter: MessageFilter, unread = new UnreadableBodies()): Matches | undefined {
  const asked = tests.map((test) => test(filter, unread)).filter((test) => test !== undefined);
  if (asked.length === 0) return undefined;
  return (message, now) => asked.every((test) => test(message, now));
}

const ifGiven = <T>(wanted: T | undefined, test: (wanted: T) => Test): Test | undefined =>
  wanted === undefined ? undefined : test(wanted);

function hasHeader(message: Message, { name, value }: WantedHeader): boolean {
  const field = message.header(name);
  return field !== undefined && (value === undefined || textOf(field) === value);
}

/** The text of a value as a user would type it; tables and arrays are JSON. */
function textOf(field: Field): string {
  const value = fromField(field);
  if (typeof value !== 'object') return String(value ?? '');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
}

function ageOf(message: Message, now: number, unknown: number): number {
  const time = timeOf(message);
  return time === undefined ? unknown : now - time;
}

function containsText(wanted: string, unread: UnreadableBodies): Test {
  const bytes = Buffer.from(wanted);
  return (message) => {
    const body = bodyOf(message, unread);
    if (body === undefined) return false;
    const searched = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, searchedBytes));
    return searched.includes(bytes);
  };
}
