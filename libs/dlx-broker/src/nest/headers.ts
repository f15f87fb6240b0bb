import { errorHeaders } from '../history/index.js';
import type { Field, Properties } from '../message/index.js';
import { fieldTableOf } from '../topology/index.js';

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

/** Adds the texts that a dispatch hook of the client attached (`ClientProxy.setOnDispatchHook`) as one header. */
export function withMetadata(properties: Properties, metadata: Readonly<Record<string, string>>): Properties {
  const value = fieldTableOf(metadata, 'metadata of a packet');
  const headers = new Map<string, Field>(properties.headers).set(dlxHeaders.metadata, { type: 'F', value });
  return { ...properties, headers };
}
