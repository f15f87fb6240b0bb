/** The headers a republished message carries, for the broker's own do not survive republishing (rule W3). */
export const retryHeaders = {
  /** The attempt this is; on a parked message the last one made. */
  attempt: 'dlx-attempt',
  /** The work queue these attempts belong to. */
  queue: 'dlx-queue',
  /** Where the message was published at first: the exchange and the routing key. */
  firstExchange: 'dlx-first-exchange',
  firstRoutingKey: 'dlx-first-routing-key',
  /** When it failed for the first time: milliseconds since 1970. */
  since: 'dlx-failing-since',
  /** True on a parked message. */
  parked: 'dlx-parked',
  /** How often it was redriven to its origin. */
  redrives: 'dlx-redrives',
} as const;

/** What a handler failed with: the class of the error, its message, its stack. */
export const errorHeaders = {
  class: 'dlx-error-class',
  message: 'dlx-error-message',
  stack: 'dlx-error-stack',
  /** What a function of the retry policy failed with, beside the error of the attempt. */
  policy: 'dlx-error-policy',
} as const;
