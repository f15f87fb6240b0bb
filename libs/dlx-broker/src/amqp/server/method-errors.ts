import { AmqpError, methodOf } from '../../engine/broker/index.js';
import { Malformed, methodIds } from '../../engine/message/index.js';
import { erlangBinary, frameTypes, type MethodReader, methods, unexpectedFrame, WireError } from '../wire/index.js';

/** Arguments of a method that end too soon or too late; RabbitMQ shows their bytes. */
const cannotDecode = (args: Buffer): AmqpError =>
  new AmqpError('FRAME_ERROR', `cannot decode ${erlangBinary(args.subarray(0, maxSnippet))}`);

/** Bytes shown of the arguments: a reply text has room for no more. */
const maxSnippet = 256;

/** Makes the AmqpError of a WireError. Any other error stays as it is. */
export const toAmqpError = (error: unknown): unknown =>
  error instanceof WireError ? new AmqpError(error.reply, error.detail) : error;

/**
 * Adds the method that was running when an error was thrown, unless RabbitMQ names no method for such errors.
 * @param id class and method in one number
 */
export function withMethod(failure: unknown, id: number): unknown {
  const error = toAmqpError(failure);
  if (!(error instanceof AmqpError) || error.reply === 'INTERNAL_ERROR') return error;
  if (error.reply === 'FRAME_ERROR' && !error.message.startsWith('FRAME_ERROR - cannot decode')) return error;
  return error.method[0] === 0 ? error.blame(id) : error;
}

/**
 * Whether a client gets the reason of a failed handshake: only for a refused login, and for a virtual host that it may not
 * enter.
 */
export const isSentToClient = (error: unknown): boolean =>
  error instanceof AmqpError && (error.reply === 'ACCESS_REFUSED' || error.reply === 'NOT_ALLOWED');

/** A client gets no details of an internal fault that no method caused, as in RabbitMQ. */
export const textFor = ({ reply, message, method: [classId] }: AmqpError): string =>
  reply === 'INTERNAL_ERROR' && classId === 0 ? 'INTERNAL_ERROR' : message;

/**
 * The error of a method that could not be read or run; see {@link withMethod}. @param args the bytes of its arguments,
 * shown when they cannot be decoded
 */
export const undecoded = (error: unknown, id: number, args: Buffer): unknown =>
  withMethod(error instanceof Malformed ? cannotDecode(args) : error, id);

const known: ReadonlySet<number> = new Set(Object.values(methodIds));

/** A method that clients may not send, or an unknown method. */
export const unknownMethod = (id: number): AmqpError =>
  known.has(id)
    ? new AmqpError('COMMAND_INVALID', 'unimplemented method')
    : new AmqpError('NOT_IMPLEMENTED', `unknown method ${methodOf(id).join('.')}`);

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
