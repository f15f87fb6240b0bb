import { concatMap, groupBy, mergeMap, type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { after } from '../../platform/index.js';
import { checkMethods } from '../../platform/options/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { checkOptions, withinOf, type WithinOption } from './given.js';
import { CallbackTimeoutError } from './letter-errors.js';

/** Where {@link archiveTo} writes letters: a file, a table, an object store. */
export interface ArchiveSink<L extends ConsumedLetter = ConsumedLetter> {
  /** Writes a letter. May return a promise. A crash may follow, so the same letter may come again: know it by its message id. */
  write(letter: L): unknown;
  /** Makes what was written durable, before the letter is acked. May return a promise. Absent: `write` does so itself. */
  flush?(): unknown;
}

/**
 * Writes letters to an archive: each is written, flushed and then acked, so that it leaves its queue only when the archive has it. Letters
 * of one queue are written one after the other, in their order; those of several queues side by side. Passes the letters that it acked.
 * The stream fails when the sink throws, rejects, or does not answer within `within`: the letter and everything unsettled goes back.
 * @throws DlxConfigurationError at once for a sink without `write`, and for unknown or impossible options
 */
export function archiveTo<L extends ConsumedLetter>(
  sink: ArchiveSink<L>,
  options: WithinOption = {},
): MonoTypeOperatorFunction<L> {
  checkMethods(sink, 'archiveTo: sink', 'ArchiveSink', ['write']);
  checkOptions(options, ['within'], 'archiveTo', "write { within: '1m' }");
  const within = withinOf(options, 'archiveTo');
  const archived = (letter: L): Observable<L> =>
    new Observable((subscriber) => {
      if (letter.isReturned) return subscriber.complete();
      if (within !== undefined) {
        const tooLate = (): void => {
          const error = new CallbackTimeoutError('archiveTo: sink', letter.queue, within);
          letter.unanswered(error);
          subscriber.error(error);
        };
        subscriber.add(after(letter.clock, within, tooLate));
      }
      const written = (): void => {
        if (subscriber.closed) return; // too late, or the stream has ended: the letter is back in its queue
        if (letter.isReturned) return subscriber.complete(); // so it is when the application shuts down
        letter.ack();
        subscriber.next(letter);
        subscriber.complete();
      };
      write(sink, letter)
        .then(written)
        .catch((error: unknown) => subscriber.error(error));
    });
  return (source) =>
    source.pipe(
      groupBy(({ queue }) => queue),
      mergeMap((ofQueue) => ofQueue.pipe(concatMap(archived))),
    );
}

async function write<L extends ConsumedLetter>(sink: ArchiveSink<L>, letter: L): Promise<void> {
  await sink.write(letter);
  await sink.flush?.();
}
