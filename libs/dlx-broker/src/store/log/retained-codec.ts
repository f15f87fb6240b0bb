import type { RetainedDeath } from '../../broker/index.js';
import type { DeathReason } from '../../message/index.js';
import type { ByteSink } from './byte-sink.js';
import type { ByteSource } from './byte-source.js';
import { readHeaders, reasons, wholeHeaders, writeHeaders } from './headers-codec.js';

/** Writes reason, time, and the headers if there are any. */
export function writeRetained(to: ByteSink, { reason, time, headers }: RetainedDeath): void {
  to.octet(reasons.indexOf(reason));
  to.double(time);
  if (headers !== undefined) writeHeaders(to, headers);
}

export function readRetained(from: ByteSource, hasHeaders: boolean): RetainedDeath {
  const reason = reasons[from.octet()] as DeathReason;
  const time = from.double();
  return { reason, time, headers: hasHeaders ? wholeHeaders(readHeaders(from)) : undefined };
}
