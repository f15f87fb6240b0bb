import { noting, readEntries, refuseBare } from './contribution.js';

/** What became of a message that no handler took. */
export type DeathKind = 'parked' | 'rejected' | 'expired';

/** For which deaths a method is called. */
export interface OnDeadLetterOptions {
  /** The queue in which a message failed or expired: its name, or a pattern of names. Default: all. */
  readonly queue?: string | RegExp;
  /** Default: all of them. A server reports no expired messages. */
  readonly kinds?: readonly DeathKind[];
  /** The name of the broker, in an application with several. */
  readonly broker?: string;
}

const hooksKey = 'dlx-broker:death-hooks';

/**
 * Calls a method of a provider, with a {@link Death}, when a handler or a stream of this process parked or rejected a message, and when a
 * message expired in a broker in this process. It is called after the fact, and its outcome changes nothing: what it throws is logged.
 * A call that is lost in a crash does not come again; `notices` is the durable way.
 * @throws DlxConfigurationError at once without parentheses, and above anything but a method of an instance
 */
export function OnDeadLetter(options: OnDeadLetterOptions = {}): MethodDecorator {
  refuseBare('OnDeadLetter', [options]);
  return noting('OnDeadLetter', hooksKey, options);
}

/** The options of the decorators above a method. */
export const deathHooksOf = (method: object): readonly OnDeadLetterOptions[] => readEntries(hooksKey, method);
