import { headerPrefix } from '../properties/received.js';
import { frameError, unexpectedFrame } from './errors.js';
import { frameTypes } from './format.js';

/**
 * Checks the type of a frame, and that its payload has the smallest length of that type. @throws WireError 501, or 505
 * for a heartbeat of a channel
 */
export function checkFrame(type: number, number: number, bytes: Buffer, start: number, end: number): void {
  const { method, header, body, heartbeat } = frameTypes;
  const length = end - start;
  if (type === body || (type === method && length >= 4) || (type === header && length >= headerPrefix)) return;
  const payload = bytes.subarray(start, end);
  if (type !== heartbeat || length > 0) throw frameError(type, payload, 'unknown_frame');
  if (number !== 0) throw unexpectedFrame(type, payload);
}
