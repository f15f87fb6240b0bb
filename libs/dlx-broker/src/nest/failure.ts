import { longstr, type Field, type FieldTable } from '../message/index.js';
import { dlxHeaders } from './headers.js';
import type { ErrorHeaderOptions } from './options.js';

/** What an operator reads on a dead letter: the class of the error, its message, the beginning of its stack. */
export function failureHeaders(error: unknown, limits: Required<ErrorHeaderOptions>): FieldTable {
  const { name, message, stack } = describeError(error);
  const headers = new Map<string, Field>();
  headers.set(dlxHeaders.errorClass, longstr(name));
  headers.set(dlxHeaders.errorMessage, longstr(message.slice(0, limits.message)));
  if (stack !== undefined && limits.stack > 0)
    headers.set(dlxHeaders.errorStack, longstr(stack.slice(0, limits.stack)));
  return headers;
}

export interface DescribedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** Anything can be thrown: never throws itself. */
export function describeError(error: unknown): DescribedError {
  try {
    if (error instanceof Error) {
      const name = error.constructor.name || error.name;
      return { name, message: String(error.message), stack: error.stack };
    }
    if (typeof error !== 'object' || error === null) return { name: typeof error, message: String(error) };
    const { message } = error as { message?: unknown };
    const name = error.constructor?.name ?? 'Object';
    return { name, message: typeof message === 'string' ? message : (JSON.stringify(error) ?? '') };
  } catch {
    return { name: 'unknown', message: 'an error that cannot be shown' };
  }
}
