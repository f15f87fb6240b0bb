import { HttpException } from '@nestjs/common';
import { RpcException } from '../core/nest-versions.js';
import { describeError, readable } from '../core/failure.js';
import { encodePayload } from '../core/payload.js';

/** The answer of a handler cannot be written as JSON. The cause has the reason; the client gets only the text of JSON's error. */
export class UnserialisableReplyError extends Error {
  override readonly name = 'UnserialisableReplyError';

  constructor(cause: unknown) {
    super(`the answer cannot be written as JSON${whyOf(cause)}`, { cause: readable(cause) });
  }
}

/** What a handler returned or emitted throws an error when it is looked at, as a revoked proxy does. The cause is that error. */
export class UnreadableValueError extends Error {
  override readonly name = 'UnreadableValueError';

  constructor(cause: unknown) {
    super('a value of the handler cannot be read', { cause: readable(cause) });
  }
}

/** The text of an error of JSON.stringify. An error of the application's own `toJSON` must not reach clients. */
function whyOf(cause: unknown): string {
  const { message } = describeError(cause);
  if (message.includes('BigInt')) return ': it holds a BigInt';
  return message.startsWith('Converting circular structure') ? ': it is circular' : '';
}

/** The body of an error, as Nest's default filter writes it. */
const errorBody = (message: string) => ({ status: 'error', message });

/**
 * The reply to a request whose handler failed: Nest's exceptions as Nest's default filter writes them, other errors by their
 * message (JSON would write `{}`), and any other thrown value as it is, if JSON can write it.
 */
export function errorReply(failure: unknown): unknown {
  try {
    const error = contentOf(failure);
    encodePayload(error);
    return error;
  } catch {
    const { name, message } = describeError(failure);
    return errorBody(message === '' ? name : message);
  }
}

function contentOf(failure: unknown): unknown {
  if (!failure) return errorBody(String(failure)); // a client would not recognise a false value as an error
  if (failure instanceof RpcException) return objectOr(failure.getError(), failure);
  if (failure instanceof HttpException) return objectOr(failure.getResponse(), failure);
  if (failure instanceof Error) return errorBody(describeError(failure).message);
  if (typeof failure === 'function' || typeof failure === 'symbol') return errorBody(describeError(failure).message);
  return failure;
}

const objectOr = (content: unknown, error: Error): unknown =>
  typeof content === 'object' && content !== null ? content : errorBody(error.message);
