import { notAPromise } from '../../options/index.js';
import type { DlxContext } from '../context.js';
import { breachOf } from '../contracts/check.js';
import type { Handler, PlannedHandler } from '../handler.js';

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
    const term = handler.settings.contract?.payload;
    throw (term && breachOf(term, payload)) ?? error;
  }
}

function keyIn(handler: Handler, payload: unknown, context: DlxContext): LaneKey {
  const { ordering } = handler.settings;
  const answer: unknown = notAPromise(ordering?.key(payload, context), `@Ordered on ${handler.origin}: key`);
  if (answer === null) return undefined;
  if (typeof answer === 'string') return answer;
  if (typeof answer === 'number' && Number.isFinite(answer)) return String(answer);
  const what = typeof answer === 'object' ? 'an object' : typeof answer === 'boolean' ? 'a boolean' : String(answer);
  throw new TypeError(
    `@Ordered on ${handler.origin}: the key of a message is a string or a number, or null for no order, but this one is ${what}`,
  );
}
