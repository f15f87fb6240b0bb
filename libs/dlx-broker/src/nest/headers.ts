import { errorHeaders } from '../history/index.js';

/** The headers this library writes, beside RabbitMQ's own. */
export const dlxHeaders = {
  /** Why a message was rejected: the class of the error, its message, its stack. */
  errorClass: errorHeaders.class,
  errorMessage: errorHeaders.message,
  errorStack: errorHeaders.stack,
  /** What part of an answer a reply is: `next`, `last`, `complete` or `error`. */
  reply: 'dlx-reply',
  /** A table of texts that a dispatch hook attached to a packet. */
  metadata: 'dlx-metadata',
} as const;
