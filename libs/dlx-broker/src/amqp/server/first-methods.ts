import { AmqpError } from '../../engine/broker/index.js';
import { methodIds } from '../../engine/message/index.js';
import { withMethod, undecoded } from './method-errors.js';
import { frameTypes, type MethodReader, methods, unexpectedFrame } from '../wire/index.js';

/** The first frame of a channel has to open it. @throws AmqpError 505, 504, or 501 when it cannot be decoded */
export function checkOpen(type: number, bytes: Buffer, start: number, end: number, from: MethodReader): void {
  if (type !== frameTypes.method) throw methodExpected();
  const id = bytes.readInt32BE(start);
  if (id !== methodIds.channelOpen) throw withMethod(new AmqpError('CHANNEL_ERROR', "expected 'channel.open'"), id);
  decode(id, bytes, start, end, from, methods.readChannelOpen);
}

/**
 * Reads a method that is for the connection itself, of those that clients may send.
 * @returns class and method in one number @throws AmqpError 505, 504, or 501 when it cannot be decoded
 */
export function readOwnMethod(type: number, bytes: Buffer, start: number, end: number, from: MethodReader): number {
  if (type !== frameTypes.method) throw unexpectedFrame(type, bytes.subarray(start, end));
  const id = bytes.readInt32BE(start);
  const read = ownMethods.get(id);
  if (read === undefined) {
    throw withMethod(new AmqpError('CHANNEL_ERROR', 'unexpected method in connection state running'), id);
  }
  decode(id, bytes, start, end, from, read);
  return id;
}

/** A frame other than a method, where a channel has to begin a command. */
export const methodExpected = (): AmqpError =>
  new AmqpError('UNEXPECTED_FRAME', 'expected method frame, got non method frame instead');

type Read = (from: MethodReader) => unknown;

const ownMethods: ReadonlyMap<number, Read> = new Map<number, Read>([
  [methodIds.connectionClose, methods.readConnectionClose],
  [methodIds.connectionUpdateSecret, methods.readConnectionUpdateSecret],
]);

function decode(id: number, bytes: Buffer, start: number, end: number, from: MethodReader, read: Read): void {
  from.reset(bytes, start + 4, end);
  try {
    read(from);
  } catch (error) {
    throw undecoded(error, id, bytes.subarray(start + 4, end));
  }
}

export const tooManyChannels = (opened: number, limit: number): AmqpError =>
  new AmqpError(
    'NOT_ALLOWED',
    `number of channels opened (${opened}) has reached the negotiated channel_max (${limit})`,
  );
