import { attemptOf } from '../../platform/history/index.js';
import type { SafeProcess } from '../tracing/index.js';
import type { DlxContext } from './context.js';
import type { Handling } from './handler.js';

/** A message and its handler, with the span of the attempt if there is one. */
export type Taken = Pick<Handling, 'delivery' | 'planned'> & { readonly span?: SafeProcess | undefined };

/** A message whose handler failed. */
export interface Failed extends Taken {
  readonly replies: Handling['replies'];
  readonly epoch?: Handling['epoch'];
  /** The error as it was thrown. */
  readonly error: unknown;
  /** The result of Nest's filters, for the client of a request. */
  readonly filtered: unknown;
  /** The context of the handler; undefined if no handler was called. */
  readonly context?: DlxContext;
  /** When the handler began, in milliseconds since 1970. */
  readonly begunAt?: number | undefined;
  /** True if the message was refused before a handler got it. */
  readonly isUnhandled?: true;
}

/** The number of the attempt that failed. */
export const attemptBy = ({ delivery }: Taken): number => attemptOf(delivery.message, delivery.queue);

/** Sends the error to the client of a request, and then settles the message. */
export function answer({ replies, filtered }: Failed, settled: () => void): void {
  if (replies === undefined) settled();
  else replies.error(filtered, settled);
}
