import { inspect } from 'node:util';

/** The most reasons, and the most levels that are searched: a client decides how large a validated object is. */
const most = 100;
const deepest = 8;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The reasons of an exception besides its message: the response of an HttpException, the error of an RpcException, the fields of a
 * validation. From class-validator's errors only the constraints are taken, because these errors have the validated object as
 * well.
 * @throws what a getter throws
 */
function reasonsOf(error: unknown): readonly string[] {
  const source = sourceOf(error);
  if (source === undefined) return [];
  const found: string[] = [];
  collect(source, '', found, 0);
  return found;
}

/** The part of an exception that has the reasons: the result of Nest's `getResponse` or `getError`, or a thrown list itself. */
function sourceOf(error: unknown): unknown {
  const { getResponse, getError } = error as { readonly getResponse?: unknown; readonly getError?: unknown };
  if (typeof getResponse === 'function') return getResponse.call(error) as unknown;
  if (typeof getError === 'function') return getError.call(error) as unknown;
  return Array.isArray(error) ? error : undefined;
}

function collect(value: unknown, path: string, found: string[], depth: number): void {
  if (found.length >= most || depth > deepest) return;
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const one of value.slice(0, most)) collect(one, path, found, depth + 1);
  else if (typeof value === 'object' && value !== null) collectFields(value as Fields, path, found, depth);
}

function collectFields(value: Fields, path: string, found: string[], depth: number): void {
  const { property, constraints, children, message, errors } = value;
  if (typeof property === 'string') {
    const at = path === '' ? property : `${path}.${property}`;
    for (const text of Object.values((constraints ?? {}) as Fields)) {
      if (typeof text === 'string') found.push(`${at}: ${text}`);
    }
    return collect(children, at, found, depth + 1);
  }
  collect(message, path, found, depth + 1);
  collect(errors, path, found, depth + 1);
  if (message === undefined && errors === undefined) found.push(JSON.stringify(value) ?? '');
}

/** The most characters of a string that are read. No option allows more. */
const longest = 65_536;
/** Errors that are followed from cause to cause. */
const mostCauses = 5;

/** Replaces a thrown value whose properties cannot be read without another error, such as a proxy. */
class UnreadableError extends Error {
  override readonly name = 'UnreadableError';

  constructor() {
    super('what was thrown cannot be read');
  }
}

/** Replaces an error that made the settlement of its message fail: each use of it may fail again. */
export class UnsettledFailureError extends Error {
  override readonly name = 'UnsettledFailureError';

  /** @param fault what the settlement threw */
  constructor(fault: unknown) {
    super(`the handler failed, and its error cannot be used: ${namedError(fault).message}`, { cause: fault });
  }
}

/**
 * Checks that the class and the name of a thrown value can be read without another error.
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

export interface DescribedError {
  readonly name: string;
  /** The message, with further reasons of Nest's exceptions, such as the messages of a validation. */
  readonly message: string;
  readonly stack?: string | undefined;
}

export type NamedError = Omit<DescribedError, 'stack'>;

/** Describes any thrown value. It never throws, and the length of its texts is limited. */
export function describeError(thrown: unknown): DescribedError {
  const stack = stackTextOf(thrown);
  const named = namedError(thrown);
  return stack === undefined ? named : { ...named, stack };
}

/** {@link describeError} without the stack. Node makes the text of a stack when it is read first, which takes several microseconds. */
export function namedError(thrown: unknown): NamedError {
  const error = readable(thrown);
  return { name: nameOf(error), message: withReasons(error, messageOf(error)) };
}

/** The stack of an error with its causes; undefined for a value without one. It never throws, and its length is limited. */
export function stackTextOf(thrown: unknown): string | undefined {
  const error = readable(thrown);
  if (!(error instanceof Error)) return undefined;
  const stack = attempt(() => error.stack, undefined);
  return typeof stack === 'string' ? cut(`${cut(stack)}${causesOf(error)}`) : undefined;
}

/** The error itself; for another thrown value, an error with its description. */
export function asError(thrown: unknown): Error {
  const error = readable(thrown);
  return error instanceof Error ? error : new Error(describeError(error).message);
}

/** The result of `read`, or `otherwise` if it throws. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
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

/** The value as JSON if possible. */
function shown(value: object): string {
  const json = attempt(() => JSON.stringify(value) as string | undefined, undefined);
  if (json !== undefined) return json;
  return attempt(() => inspect(value, { depth: 2, maxArrayLength: 20, maxStringLength: 1_000 }), '');
}

const noReasons: readonly string[] = [];

function withReasons(error: unknown, message: string): string {
  if (typeof error !== 'object' || error === null) return message;
  const found = attempt(() => reasonsOf(error), noReasons);
  if (found.length === 0) return message;
  const reasons = found.filter((reason) => reason !== message);
  if (reasons.length === 0) return message;
  const all = cut(reasons.join('; '));
  return message === '' ? all : cut(`${message}: ${all}`);
}

/** The stacks of the causes of an error, which its own stack does not have. */
function causesOf(error: Error): string {
  let text = '';
  let cause = attempt(() => readable(error.cause), undefined);
  if (cause === undefined) return text;
  const seen = new Set<unknown>([error]);
  while (cause instanceof Error && !seen.has(cause) && seen.size <= mostCauses) {
    seen.add(cause);
    text += `\ncaused by ${nameOf(cause)}: ${messageOf(cause).slice(0, 1_024)}`;
    const one = cause;
    cause = attempt(() => readable(one.cause), undefined);
  }
  return text;
}

/** A handler took longer than its policy or the consumer timeout of the server allows. It may still run: the `signal` of its context is aborted. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';

  /** @param whose what the time is, such as `, the consumer timeout of the server`; by default that of its policy */
  constructor(handler: string, milliseconds: number, whose = '') {
    super(`${handler} took longer than ${milliseconds} ms${whose}`);
  }
}
