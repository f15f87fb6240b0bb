import type { Clock } from '../../../engine/broker/index.js';
import type { Feature } from '../../core/feature.js';
import type { EventLog } from '../../log/event-log.js';
import { FailureNotes, type NotesOptions } from './failure-notes.js';

/** The headers of failed messages: their errors and fingerprints (options `errorHeaders`, `errorHistory` and `fingerprint`). */
export function errorHistory(options: NotesOptions, clock: Clock, log: EventLog): Feature {
  const notes = new FailureNotes(options, clock, log);
  return {
    name: 'error history',
    needsHeaders: options.errorHistory > 0 ? "a reject could not carry the errors of option 'errorHistory'" : undefined,
    headers(failed, move, before) {
      // A message that is held has no history of the failure: it is no attempt.
      const own =
        move === 'hold'
          ? notes.ofError(failed.error)
          : move === 'reject'
            ? notes.ofRejected(failed)
            : notes.headers(failed);
      return before.size === 0 ? own : new Map([...before, ...own]);
    },
    fingerprint: (failed) => notes.fingerprint(failed),
  };
}
