import type { DlxContext } from '../../core/context.js';
import { settingOf } from '../../core/handler-settings.js';
import { orderedDecorator } from './decorator.js';
import { breachBefore } from '../contract/feature.js';
import type { Handler, PlannedHandler } from '../../core/handler.js';
import { textOfKey } from '../message-key.js';

/** The key of a message as text; undefined for a message without an order. */
export type LaneKey = string | undefined;

/**
 * Asks the function of a handler for the key of a message.
 * @throws ContractError for a payload without a key that breaks the contract of the handler: no other attempt cures it. Otherwise what
 *   the function threw; TypeError or DlxConfigurationError for an answer that is no key
 */
export function keyOf({ handler }: PlannedHandler, payload: unknown, context: DlxContext): LaneKey {
  try {
    return keyIn(handler, payload, context);
  } catch (error) {
    throw breachBefore(handler, payload) ?? error;
  }
}

function keyIn(handler: Handler, payload: unknown, context: DlxContext): LaneKey {
  return textOfKey(settingOf(handler, orderedDecorator)?.key(payload, context), '@Ordered', handler.origin, 'no order');
}
