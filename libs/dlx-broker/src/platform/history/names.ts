import type { FieldTable } from '../../engine/message/index.js';

/** The headers of a republished message. The broker's own headers do not survive republishing (rule W3). */
export const retryHeaders = {
  /** The number of the attempt; of a parked message, that of the last attempt. */
  attempt: 'dlx-attempt',
  /** The work queue of the attempts. */
  queue: 'dlx-queue',
  /** Where the message was published at first: the exchange and the routing key. */
  firstExchange: 'dlx-first-exchange',
  firstRoutingKey: 'dlx-first-routing-key',
  /** When it failed for the first time: milliseconds since 1970. */
  since: 'dlx-failing-since',
  /** How often the message was held while the circuit of its handler was closed. */
  holds: 'dlx-holds',
  /** Until when outages are left out of the time in `since`: milliseconds since 1970. */
  heldUntil: 'dlx-held-until',
  /** The state that the handler left for its next attempt, as JSON. */
  state: 'dlx-state',
  /** True on a parked message. */
  parked: 'dlx-parked',
  /** How often it was redriven to its origin. */
  redrives: 'dlx-redrives',
  /** Groups similar failures, on a message that was parked or rejected. */
  fingerprint: 'dlx-fingerprint',
  /** Its deaths up to its last republish, in the format of `x-death` (rule H5), which a republished message does not keep (rules I6, W3). */
  deaths: 'dlx-deaths',
} as const;

/** The errors of earlier attempts. They stay at a redrive. */
export const historyHeaders = {
  /** An array of tables, the latest first. */
  errors: 'dlx-errors',
  /** How many entries were left out between the latest and the first. */
  omitted: 'dlx-errors-omitted',
} as const;

/** The error of a handler: its class, its message, its stack. */
export const errorHeaders = {
  class: 'dlx-error-class',
  message: 'dlx-error-message',
  stack: 'dlx-error-stack',
  /** The error of a function of the retry policy, beside the error of the attempt. */
  policy: 'dlx-error-policy',
} as const;

/** Headers of traces, besides those of W3C (`trace-context.ts`). They say nothing of attempts, and stay at a redrive. */
export const traceHeaders = {
  /** A table of texts that a dispatch hook attached to a packet. */
  metadata: 'dlx-metadata',
  /** The `traceparent` of the previous attempt. */
  attempt: 'dlx-trace-attempt',
} as const;

/** The last millisecond that a date can have. A publisher may write a timestamp in microseconds, or forge a death. */
const lastDate = 8.64e15;

/** A time that a date can have; undefined for others. */
export const dateAt = (time: number | undefined): number | undefined =>
  time !== undefined && Math.abs(time) <= lastDate ? time : undefined;

/** The largest number an int32 header can carry, with room to add one. */
export const largestCount = 2_147_483_646;

/** A whole number from 0 on in a header, at most {@link largestCount}; undefined for any other value. */
export function naturalAt(headers: FieldTable | undefined, name: string): number | undefined {
  const value = headers?.get(name)?.value;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? Math.min(value, largestCount) : undefined;
}
