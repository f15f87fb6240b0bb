import { DlxConfigurationError } from '../../../platform/options/index.js';
import type { DeliveryTimers } from '../../core/delivery-timers.js';
import type { Feature } from '../../core/feature.js';
import { settingOf } from '../../core/handler-settings.js';
import type { Handler, PlannedHandler } from '../../core/handler.js';
import { queueOf } from '../../handlers/duplicate-handlers.js';
import type { ResolvedFeatures } from '../options.js';
import { orderedDecorator } from '../ordered/decorator.js';
import { outboxDecorator } from '../outbox/decorator.js';
import { batchDecorator } from './decorator.js';
import { Gathering } from './gathering.js';

/** Gives a handler many messages at once (`@Batch`). */
export function batch({ outbox }: Pick<ResolvedFeatures, 'outbox'>, timers: DeliveryTimers): Feature {
  const gatherings = new Map<Handler, Gathering>();
  const of = (queue: string): readonly Gathering[] => [...gatherings.values()].filter((each) => each.queue === queue);
  return {
    name: 'batch',
    check(_, handlers) {
      for (const handler of handlers) {
        const hasOutbox = (settingOf(handler, outboxDecorator) ?? outbox) instanceof Object;
        if (settingOf(handler, batchDecorator) !== undefined) refuseAlone(handler, hasOutbox);
      }
    },
    prefetch(handlers, prefetch) {
      const sizes = handlers.map((planned) => {
        refuseShortTimeout(planned);
        return settingOf(planned.handler, batchDecorator)?.size ?? 0;
      });
      return prefetch === 0 ? 0 : Math.max(prefetch, ...sizes);
    },
    call(handler) {
      const setting = settingOf(handler, batchDecorator);
      if (setting === undefined) return undefined;
      const known = gatherings.get(handler) ?? new Gathering(queueOf(handler), handler, setting, timers);
      gatherings.set(handler, known);
      return known.call;
    },
    rests(queue, isResting) {
      for (const each of of(queue)) each.rest(isResting);
    },
    waiting: (queue) => of(queue).reduce((count, each) => count + each.waiting, 0),
  };
}

/** Refuses what is for one message at a time. @throws DlxConfigurationError naming the handler, the reason and a remedy */
function refuseAlone(handler: Handler, hasOutbox: boolean): void {
  const refuse = (why: string): never => {
    throw new DlxConfigurationError(`@Batch on ${handler.origin}: ${why}`);
  };
  if (handler.kind === 'request') refuse('each request wants its own answer; leave @Batch out, or handle events');
  if (settingOf(handler, orderedDecorator) !== undefined) {
    refuse('@Ordered is beside it, which gives the messages of a key one at a time; leave one of them out');
  }
  if (hasOutbox) {
    refuse(
      'an outbox belongs to the ack of one message; write @Outbox(false), and emit what other services need at once',
    );
  }
}

/** The time limit of an attempt counts from the arrival of its message. @throws DlxConfigurationError */
function refuseShortTimeout({ handler, retry }: PlannedHandler): void {
  const setting = settingOf(handler, batchDecorator);
  if (setting === undefined || retry?.timeout === undefined || retry.timeout > setting.within) return;
  throw new DlxConfigurationError(
    `@Batch on ${handler.origin}: the timeout of its retry policy (${retry.timeout} ms) is over before a batch starts (within: ${setting.within} ms); raise timeout or lower within`,
  );
}
