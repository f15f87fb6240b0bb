import { Observable } from 'rxjs';
import { type Backend, type BrowseCursor, need } from '../../backends/index.js';
import { Letter } from './letter.js';

/** Letters of one page. Other work of the process runs between two pages. */
const pageSize = 100;

/**
 * Reads the letters of a queue in the order of delivery, and completes. Nothing is consumed, counted or flagged. Letters that arrive
 * or leave meanwhile may be read or not.
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
