import { bytesIn, optionsOf, refused, whole } from '../../../platform/options/index.js';
import type { FeatureDecorator } from '../../core/handler-settings.js';
import { contribute } from '../../decorators/contribution.js';
import { optionIn, readLater } from '../../module/check-options.js';

/** How much the outbox of one attempt holds. */
export interface OutboxOptions {
  /** The most events. Default 1000. */
  readonly messages?: number;
  /** The most bytes of all bodies: a number, or a string such as `'16mb'`, which is the default. */
  readonly bytes?: number | string;
}

/**
 * What the handler emits leaves with the ack of its message, or not at all: it is collected, published when the handler has succeeded,
 * and dropped when it fails. The reply to a request goes with it.
 * @param outbox limits, or false for a handler that publishes at once although option `outbox` of the module is set
 */
export const Outbox = (outbox: boolean | OutboxOptions = true): MethodDecorator =>
  contribute('Outbox', { value: outbox });

/** The checked limits of an outbox. */
export interface OutboxLimits {
  readonly messages: number;
  readonly bytes: number;
}

/**
 * Reads `@Outbox(...)` or option `outbox`.
 * @returns false for none; undefined when nothing is said
 * @throws DlxConfigurationError for an unknown option, and for a limit that is no number above 0
 */
export function readOutbox(given: unknown, origin: string): OutboxLimits | false | undefined {
  if (given === undefined || given === false) return given;
  const options: unknown = given === true ? {} : given;
  const remedy = "write true, false or { messages: 1000, bytes: '16mb' }";
  const { messages = 1_000, bytes = '16mb' } = optionsOf<OutboxOptions>(options, origin, remedy, ['messages', 'bytes']);
  whole(1, Number.MAX_SAFE_INTEGER).read(messages, optionIn(origin, 'messages'));
  const size = typeof bytes === 'string' || typeof bytes === 'number' ? bytesIn(String(bytes)) : NaN;
  if (!(size > 0)) {
    throw refused(bytes, optionIn(origin, 'bytes'), "is no number of bytes above 0; write 16_000_000 or '16mb'");
  }
  return { messages, bytes: size };
}

export const outboxDecorator: FeatureDecorator<OutboxLimits | false | undefined> = {
  names: ['Outbox'],
  options: { value: readLater },
  read: ({ value }, origin) => readOutbox(value, origin),
};
