import { HttpException } from '@nestjs/common';
import { RpcException } from '@nestjs/microservices/exceptions/rpc-exception.js';
import { describeError, readable } from './failure.js';
import { encodePayload } from './payload.js';

/** A handler's answer is no JSON. Its cause says why; the caller learns of it only what JSON itself says. */
export class UnserialisableReplyError extends Error {
  override readonly name = 'UnserialisableReplyError';

  constructor(cause: unknown) {
    super(`the answer cannot be written as JSON${whyOf(cause)}`, { cause: readable(cause) });
  }
}

/** What JSON.stringify says by itself; an error of the application's own `toJSON` is not for callers. */
function whyOf(cause: unknown): string {
  const { message } = describeError(cause);
  if (message.includes('BigInt')) return ': it holds a BigInt';
  return message.startsWith('Converting circular structure') ? ': it is circular' : '';
}

/** As Nest's own filter has it. */
const told = (message: string) => ({ status: 'error', message });

/**
 * What the caller of a request gets for an error that the filters let through: Nest's exceptions as Nest's filter writes
 * them, other errors by their message (JSON would make `{}` of them), anything else as it is, if it can be written.
 */
export function errorReply(failure: unknown): unknown {
  try {
    const error = contentOf(failure);
    encodePayload(error);
    return error;
  } catch {
    const { name, message } = describeError(failure);
    return told(message === '' ? name : message);
  }
}

function contentOf(failure: unknown): unknown {
  if (!failure) return told(String(failure)); // a client would take it for no error at all
  if (failure instanceof RpcException) return objectOr(failure.getError(), failure);
  if (failure instanceof HttpException) return objectOr(failure.getResponse(), failure);
  if (failure instanceof Error) return told(describeError(failure).message);
  if (typeof failure === 'function' || typeof failure === 'symbol') return told(describeError(failure).message);
  return failure;
}

const objectOr = (content: unknown, error: Error): unknown =>
  typeof content === 'object' && content !== null ? content : told(error.message);
