import type { DeathReason } from '../../../../libs/dlx-broker/src/engine/message/index.js';
import type { Command } from './command.js';

/** Names one message in one queue. */
export interface Place {
  /** The message: all its copies and dead letters have this number. */
  readonly id: number;
  /** This message in this queue: no other place has this number. */
  readonly copy: number;
  readonly queue: string;
}

/** Why a message, or its copy for one queue, is gone without having been acknowledged. */
export type DropReason = 'no-dlx' | 'missing-dlx' | 'unroutable' | 'cycle' | 'refused';

type Happening =
  | { readonly kind: 'published'; readonly id: number; readonly exchange: string; readonly key: string }
  /** The message entered a queue through an exchange: of its publisher, or the dead-letter exchange of the queue in `from`. */
  | (Place & { readonly kind: 'enqueued'; readonly exchange: string; readonly key: string; readonly from?: Place })
  | (Place & { readonly kind: 'delivered'; readonly consumer: string; readonly redelivered: boolean })
  | (Place & { readonly kind: 'acked'; readonly consumer: string })
  /** It is back in its queue. */
  | (Place & { readonly kind: 'returned' })
  /** It left the queue for the dead-letter exchange, or, without one, for nowhere: then `dropped` follows. */
  | (Place & { readonly kind: 'died'; readonly reason: DeathReason; readonly exchange?: string; readonly key?: string })
  /** Died under at-least-once: it counts in its queue until every target has it. */
  | (Place & { readonly kind: 'kept' })
  /** Gone. `from` is where it died, absent for a message that was published; `queue` is the target that did not get it. */
  | {
      readonly kind: 'dropped';
      readonly id: number;
      readonly why: DropReason;
      readonly exchange?: string;
      readonly key?: string;
      readonly queue?: string;
      readonly from?: Place;
    }
  | { readonly kind: 'purged'; readonly queue: string; readonly count: number }
  /** A queue is gone, by a command or by its `x-expires`. Its messages are not dead-lettered. */
  | { readonly kind: 'queue-deleted'; readonly queue: string; readonly lost: number }
  | { readonly kind: 'cancelled'; readonly consumer: string }
  | { readonly kind: 'restarted'; readonly lost: number }
  /** RabbitMQ refused a command, with its own text. */
  | { readonly kind: 'refused'; readonly command: Command; readonly code: number; readonly text: string }
  /** The world reached a limit of the playground; the text says which. */
  | { readonly kind: 'stopped'; readonly text: string };

/** What happened, in order. `at` is in milliseconds since the beginning. */
export type WorldEvent = Happening & { readonly number: number; readonly at: number };

/** Distributes over the kinds, as Omit does not. */
export type NewEvent = Happening;
