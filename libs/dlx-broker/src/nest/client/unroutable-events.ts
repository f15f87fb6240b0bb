import type { Address, Backend } from '../../backends/index.js';
import { shownText } from '../../platform/index.js';
import type { EventLog } from '../log/event-log.js';
import { errorFacts, tellSubscriber, textOf } from '../core/failure-log.js';

/** The most routing keys that are warned about: an application may have one for each of its customers. */
const mostKeys = 100;

/** Counts events that no queue got, and warns once for each routing key. Logs events that were not published. */
export class UnroutableEvents {
  count = 0;
  readonly #keys = new Set<string>();

  constructor(
    private readonly backend: Pick<Backend, 'status'>,
    private readonly log: EventLog,
  ) {}

  /** @param isDelayed true: the event waits for the end of its delay, and is not counted yet */
  note({ exchange, routingKey }: Address, isDelayed = false): void {
    if (!isDelayed) this.count++;
    const key = JSON.stringify([exchange, routingKey]);
    if (this.#keys.size >= mostKeys || this.#keys.has(key)) return;
    this.#keys.add(key);
    const isLast = this.#keys.size === mostKeys;
    const end = isLast ? '; further keys are only counted (DlxBroker.counts.unroutable)' : '';
    const place = { exchange: shownText(exchange), routingKey: shownText(routingKey) };
    const warn = (isQueue: boolean): void =>
      this.log.write('unroutable', `${droppedText(place.exchange, place.routingKey, isQueue, isDelayed)}${end}`, place);
    this.backend.status(routingKey).then(
      (status) => warn(status !== undefined),
      () => warn(false),
    );
  }

  /** Logs an event that was not published, and whose caller does not see it. */
  failed(name: string, failure: Error): void {
    const pattern = shownText(name, 255);
    this.log.write('emitFailed', `emit of '${pattern}' failed: ${textOf(failure)}`, {
      pattern,
      ...errorFacts(failure),
    });
  }

  /** Logs what a subscriber of an emitted event threw. */
  thrown(error: unknown): void {
    tellSubscriber(this.log, 'emit')(error);
  }
}

function droppedText(exchange: string, key: string, isQueue: boolean, isDelayed: boolean): string {
  const what = isDelayed
    ? 'with a delay would reach no queue now, and is dropped if that stays so'
    : 'reached no queue and was dropped';
  const dropped = `emit of '${key}' ${what}`;
  if (exchange === '') return `${dropped}: there is no queue of that name`;
  const unbound = `${dropped}: nothing is bound to exchange '${exchange}' by a key that fits`;
  if (!isQueue) {
    return (
      `${unbound}; a handler binds its queue by @Consume({ queue: '...', routingKey: '${key}' }) in a class among the providers ` +
      'or controllers of a module'
    );
  }
  return (
    `${unbound}. There is a queue of that name: bind it by @Consume({ queue: '${key}', routingKey: '${key}' }), ` +
    "or publish to the queue itself with new DlxRecordBuilder(data).setExchange('').build()"
  );
}
