import { inspect } from 'node:util';
import { longstr, type Field, type FieldTable } from '../message/index.js';
import { dlxHeaders } from './headers.js';
import { reasonsOf } from './reasons.js';

/** Characters of a text that are looked at: no option lets more of them through. */
const longest = 65_536;
/** Errors that are followed from cause to cause. */
const mostCauses = 5;

/** Takes the place of what a handler threw when looking at that throws again, as a proxy may. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';

  constructor() {
    super('what was thrown cannot be read');
  }
}

/**
 * What can be asked for its class and its name without throwing; everything behind this may ask.
 * @returns the error as it was thrown, or an {@link UnreadableError}
 */
export function readable(error: unknown): unknown {
  try {
    if ((typeof error !== 'object' && typeof error !== 'function') || error === null) return error;
    void (error instanceof Error);
    return error;
  } catch {
    return new UnreadableError();
  }
}

/** What an operator reads on a dead letter: the class of the error, its message, the beginning of its stack. */
export function failureHeaders(
  error: unknown,
  limits: { readonly stack: number; readonly message: number },
): FieldTable {
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
  /** With the reasons that Nest's exceptions carry beside it, such as the messages of a validation. */
  readonly message: string;
  readonly stack?: string | undefined;
}

/** Anything can be thrown: never throws itself, and all it tells is text of a bounded length. */
export function describeError(thrown: unknown): DescribedError {
  const error = readable(thrown);
  if (!(error instanceof Error)) return { name: nameOf(error), message: withReasons(error, messageOf(error)) };
  const stack = attempt(() => error.stack, undefined);
  const message = withReasons(error, messageOf(error));
  if (typeof stack !== 'string') return { name: nameOf(error), message };
  return { name: nameOf(error), message, stack: cut(`${cut(stack)}${causesOf(error)}`) };
}

/** The error itself; of anything else that was thrown, an error with its description. */
export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(describeError(error).message);

/** As far as `look` comes. */
function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

const cut = (text: string): string => text.slice(0, longest);

function nameOf(error: unknown): string {
  if ((typeof error !== 'object' && typeof error !== 'function') || error === null) {
    return error === null ? 'object' : typeof error;
  }
  const own = attempt<unknown>(() => error.constructor?.name, undefined);
  if (typeof own === 'string' && own !== '') return own.slice(0, 255);
  const given = attempt<unknown>(() => (error as { readonly name?: unknown }).name, undefined);
  return typeof given === 'string' && given !== '' ? given.slice(0, 255) : 'Object';
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return cut(error);
  if (typeof error !== 'object' || error === null) return attempt(() => cut(String(error)), '');
  const message = attempt<unknown>(() => (error as { readonly message?: unknown }).message, undefined);
  if (typeof message === 'string') return cut(message);
  if (error instanceof Error) return attempt(() => cut(String(message)), '');
  return Array.isArray(error) ? '' : cut(shown(error));
}

/** JSON where it can be had. */
function shown(value: object): string {
  const json = attempt(() => JSON.stringify(value) as string | undefined, undefined);
  if (json !== undefined) return json;
  return attempt(() => inspect(value, { depth: 2, maxArrayLength: 20, maxStringLength: 1_000 }), '');
}

function withReasons(error: unknown, message: string): string {
  if (typeof error !== 'object' || error === null) return message;
  const reasons = attempt(() => reasonsOf(error), []).filter((reason) => reason !== message);
  if (reasons.length === 0) return message;
  const all = cut(reasons.join('; '));
  return message === '' ? all : cut(`${message}: ${all}`);
}

/** The stack of an error says nothing of its causes. */
function causesOf(error: Error): string {
  const seen = new Set<unknown>([error]);
  let text = '';
  let cause = attempt(() => readable(error.cause), undefined);
  while (cause instanceof Error && !seen.has(cause) && seen.size <= mostCauses) {
    seen.add(cause);
    text += `\ncaused by ${nameOf(cause)}: ${messageOf(cause).slice(0, 1_024)}`;
    const one = cause;
    cause = attempt(() => readable(one.cause), undefined);
  }
  return text;
}
