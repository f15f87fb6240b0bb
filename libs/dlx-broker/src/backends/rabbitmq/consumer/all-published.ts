import type { Done, Publication } from '../../backend.js';

/** Publishes with a confirm. */
export type Publish = (publication: Publication, done: Done) => void;

/**
 * Publishes messages in order, and waits for the answers to all of them: also after a failure, so that no confirm is open when the
 * message is handled again.
 * @param done gets the failure of the first message, in this order, that the server did not take
 */
export function allPublished(publications: readonly Publication[], publish: Publish, done: Done): void {
  let open = publications.length;
  if (open === 0) return done();
  const failures: (Error | undefined)[] = [];
  for (const [index, publication] of publications.entries()) {
    publish(publication, (failure) => {
      failures[index] = failure;
      if (--open === 0) done(failures.find((each) => each !== undefined));
    });
  }
}
