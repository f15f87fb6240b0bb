import { Observable } from 'rxjs';
import { type Backend, type BrowseCursor, need } from '../backend/index.js';
import { Letter } from './letter.js';

/** Letters on one page: the event loop has its turn between two. */
const pageSize = 100;

/**
 * Looks at the letters of a queue as they stand, in the order of delivery, and completes. Nothing is consumed, counted or
 * flagged. What arrives or leaves meanwhile may be seen or not.
 */
export const snapshot = <T>(backend: Backend, queue: string): Observable<Letter<T>> =>
  new Observable((subscriber) => {
    const run = async (): Promise<void> => {
      const browsing = need(backend, 'browsing');
      let next: BrowseCursor | undefined;
      do {
        const page = await browsing.browse(queue, pageSize, next);
        for (const message of page.messages) {
          if (subscriber.closed) return;
          subscriber.next(new Letter<T>(message, queue, backend.recordsOrigins));
        }
        next = page.next;
        if (next !== undefined) await new Promise<void>((resolve) => setImmediate(resolve));
      } while (next !== undefined && !subscriber.closed);
      subscriber.complete();
    };
    run().catch((error: unknown) => subscriber.error(error));
  });
