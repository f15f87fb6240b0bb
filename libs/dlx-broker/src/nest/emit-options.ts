import { flag, optionsOf, refuseUnknown, text } from '../options/index.js';
import { parseDelay } from '../retry/index.js';
import { DlxRecord } from './record-builder.js';

/** How an event is published. */
export interface EmitOptions {
  /**
   * The delay: milliseconds or `'10m'`, up to 49 days. To the millisecond where the broker has exact delays, elsewhere
   * rounded up by at most 28 %.
   */
  readonly delay?: number | string;
  /** The id for `cancelDelayed` of DlxClient; the client makes one by default. */
  readonly messageId?: string;
  /** False: the event is published at once, also by a handler with an outbox (`@Outbox()`). Default true. */
  readonly outbox?: boolean;
}

export const noOptions: EmitOptions = {};
const emitOptions: readonly string[] = ['delay', 'messageId', 'outbox'];

/** @throws DlxConfigurationError */
export function checkEmitOptions(options: EmitOptions): void {
  const { messageId, outbox } = optionsOf(options, 'options of emit', "write { delay: '10m' }");
  refuseUnknown(options, emitOptions, 'options of emit');
  if (messageId !== undefined) text.read(messageId, 'messageId of emit');
  if (outbox !== undefined) flag.read(outbox, 'outbox of emit');
}

/** The delay of an event. The option of `emit` takes precedence over that of the record. @returns milliseconds, 0 for none */
export function delayAsked(data: unknown, { delay }: EmitOptions): number {
  if (delay !== undefined) return parseDelay(delay, 'delay of emit');
  return data instanceof DlxRecord ? (data.delay ?? 0) : 0;
}
