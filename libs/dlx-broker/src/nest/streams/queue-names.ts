import { Observable } from 'rxjs';
import { after } from '../../platform/index.js';
import { type Backend, need } from '../../backends/index.js';

/** The names of queues: one, several, or a pattern. A pattern also selects queues that are declared later. */
export type QueueNames = string | readonly string[] | RegExp;

/** Emits every name once, when the queue is first seen. @param pollInterval milliseconds between two lists of all queues, for a pattern */
export function queueNames(backend: Backend, which: QueueNames, pollInterval: number): Observable<string> {
  return new Observable((subscriber) => {
    if (!(which instanceof RegExp)) {
      for (const name of new Set(typeof which === 'string' ? [which] : which)) subscriber.next(name);
      return subscriber.complete();
    }
    const fits = new RegExp(which.source, which.flags.replace(/[gy]/g, '')); // with these flags a pattern remembers its last position
    let cancel: (() => void) | undefined;
    let known = new Set<string>();
    const poll = async (): Promise<void> => {
      try {
        const names = (await need(backend, 'listing').queueNames()).filter((name) => fits.test(name));
        const fresh = names.filter((name) => !known.has(name));
        known = new Set(names); // a deleted queue may be declared again
        for (const name of fresh) subscriber.next(name);
        if (!subscriber.closed) cancel = after(backend.clock, pollInterval, () => void poll());
      } catch (error) {
        subscriber.error(error);
      }
    };
    void poll();
    return () => cancel?.();
  });
}
