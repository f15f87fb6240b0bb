import type { PlannedHandler } from '../../core/handler.js';
import { settingOf } from '../../core/handler-settings.js';
import { orderedDecorator } from './decorator.js';

const limits = ['x-max-length', 'x-max-length-bytes'];

/**
 * The warnings for a handler that keeps an order.
 * @param declares false: the application declares no queue (option `declare`)
 */
export function orderWarnings({ handler, queue }: PlannedHandler, declares: boolean): readonly string[] {
  const { queueArguments, queue: asked } = handler.settings;
  if (settingOf(handler, orderedDecorator) === undefined) return [];
  const warnings: string[] = [];
  const overflow = queueArguments.get('x-overflow')?.value ?? 'drop-head';
  if (overflow === 'drop-head' && limits.some((name) => queueArguments.has(name))) {
    warnings.push(
      `@Ordered on ${handler.origin}: queue '${queue}' drops its first messages when it is full, and so the earlier messages of a key; ` +
        "write { overflow: 'reject-publish' } behind the limit",
    );
  }
  if (!declares || asked.declare === false) {
    warnings.push(
      `@Ordered on ${handler.origin}: queue '${queue}' is not declared here, so nothing checks that it has x-single-active-consumer; ` +
        'without it two instances of the application handle a key at the same time',
    );
  }
  return warnings;
}
