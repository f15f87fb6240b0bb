import type { QueueDetails } from '../../api/queues';

/** Why no queue is listed from which dead letters come. A handler publishes a message that it parks, so no queue dead-letters it. */
export const noSendersText = (of: Pick<QueueDetails, 'dead_letter_queue' | 'dead_letters_in'>): string =>
  of.dead_letter_queue && (of.dead_letters_in ?? 0) === 0
    ? 'Messages are parked here after their last attempt. No queue sends dead letters here.'
    : 'No queue sends its dead letters here.';

/** What the wait queues of a virtual host mean for a queue: each message names the queue to which it returns. */
export const waitQueuesText = (count: number): string =>
  count === 1 ? 'A wait queue of this virtual host' : `${count} wait queues of this virtual host`;
