import type { DelayedPublication, Done, Publication } from '../../../backends/index.js';
import type { DelayedPublisher } from '../../retry/index.js';
import type { SafeTracing } from '../../tracing/index.js';
import { checkEmitOptions, delayAsked, type EmitOptions, noOptions } from '../../client/client-options.js';
import { asError } from '../../core/failure.js';
import type { Collector } from './collector.js';

/** What the client of a handler has for its events. */
export interface Collecting {
  readonly collector: Collector;
  readonly delayed: DelayedPublisher;
  readonly tracing: SafeTracing | undefined;
}

/**
 * Keeps an event. All checks that need no broker are made now.
 * @param done called when it is kept, and what it needs is declared; or with the error
 */
export function collect(
  { collector, delayed, tracing }: Collecting,
  publicationOf: () => Publication,
  data: unknown,
  options: EmitOptions,
  done: Done,
): void {
  let ended: Done | undefined;
  try {
    if (options !== noOptions) checkEmitOptions(options);
    const publication = publicationOf();
    const delay = delayAsked(data, options);
    collector.checkRoom(publication);
    const span = tracing?.published(publication);
    if (span !== undefined) ended = (failure) => span.end(failure);
    const sent = span?.publication ?? publication;
    const prepared: DelayedPublication | Promise<DelayedPublication> =
      delay === 0 ? { publication: sent } : delayed.prepare(sent, delay);
    // Before the collector hears of it: a handler that does not see the failure must not succeed without the event.
    if (prepared instanceof Promise) prepared.then(() => done(), done);
    collector.hold(prepared, publication.body.length, ended);
    if (!(prepared instanceof Promise)) done();
  } catch (error) {
    ended?.(asError(error));
    done(asError(error));
  }
}
