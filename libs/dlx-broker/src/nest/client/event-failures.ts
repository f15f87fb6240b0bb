import type { Address } from '../../backends/index.js';
import { shownText } from '../../platform/index.js';
import { errorFacts, logSubscriberError, textOf } from '../core/failure-log.js';
import { Contract } from '../features/contract/contract.js';
import type { EventLog } from '../log/event-log.js';

/** The most routing keys that are warned about: an application may have one for each of its customers. */
const mostKeys = 100;

/** Counts events that no queue got, and warns once for each routing key. Logs events whose failure no subscriber gets. */
export class EventFailures {
  /** Events that no queue got. */
  unroutable = 0;
  readonly #keys = new Set<string>();

  constructor(
    private readonly log: EventLog,
    /** The routing key of a pattern, for errors; it may throw. */
    private readonly keyOf: (pattern: unknown) => string,
  ) {}

  /** @param isDelayed true: the event waits for the end of its delay, and is not counted yet */
  note({ exchange, routingKey }: Address, isDelayed = false): void {
    if (!isDelayed) this.unroutable++;
    const key = JSON.stringify([exchange, routingKey]);
    if (this.#keys.size >= mostKeys || this.#keys.has(key)) return;
    this.#keys.add(key);
    const isLast = this.#keys.size === mostKeys;
    const end = isLast ? '; further keys are only counted (DlxBroker.counts.unroutable)' : '';
    const place = { exchange: shownText(exchange), routingKey: shownText(routingKey) };
    this.log.write('unroutable', `${droppedText(place.exchange, place.routingKey, isDelayed)}${end}`, place);
  }

  /** Logs an event that was not published, and whose caller does not see it. */
  unseen(of: unknown, failure: Error): void {
    const pattern = shownText(this.#nameOf(of), 255);
    this.log.write('emitFailed', `emit of '${pattern}' failed: ${textOf(failure)}`, {
      pattern,
      ...errorFacts(failure),
    });
  }

  /** Logs what a subscriber of an emitted event threw. */
  thrown(error: unknown): void {
    logSubscriberError(this.log, 'emit')(error);
  }

  /** The routing key of a pattern; its type if it cannot be written as one. */
  #nameOf(pattern: unknown): string {
    if (pattern === undefined || pattern === null) return String(pattern);
    try {
      if (pattern instanceof Contract) return pattern.pattern;
      return this.keyOf(pattern);
    } catch {
      return typeof pattern;
    }
  }
}

function droppedText(exchange: string, key: string, isDelayed: boolean): string {
  const what = isDelayed
    ? 'with a delay would reach no queue now, and is dropped if that stays so'
    : 'reached no queue and was dropped';
  const dropped = `emit of '${key}' ${what}`;
  if (exchange === '') return `${dropped}: there is no queue of that name`;
  return (
    `${dropped}: nothing is bound to exchange '${exchange}' by a key that fits; bind a queue by @Consume({ queue: '...', ` +
    `routingKey: '${key}' }), or publish to a queue by its name with new DlxRecordBuilder(data).setExchange('').build()`
  );
}
