/** The names of Nest's error for a bad request and of the errors of class-validator, joi and yup, zod, and valibot. */
const names: readonly unknown[] = ['BadRequestException', 'ValidationError', 'ZodError', 'ValiError'];

/**
 * True for errors, by name, that another attempt cannot cure. A policy without `neverRetry` parks them at once. False for an error whose
 * name cannot be read without another error.
 */
export function isNotRetryable(error: unknown): boolean {
  try {
    if (error instanceof NotedFailure) return names.includes(error.name);
    const { name, constructor } = (error ?? {}) as { readonly name?: unknown; readonly constructor?: unknown };
    return names.includes(name) || names.includes((constructor as { readonly name?: unknown } | undefined)?.name);
  } catch {
    return false;
  }
}

const unretryable = Symbol('unretryable');

/** Marks an error that another attempt cannot cure, whatever a policy says. */
export const markUnretryable = (error: Error): unknown => Object.defineProperty(error, unretryable, { value: true });

export const isUnretryable = (error: unknown): boolean => error instanceof Error && unretryable in error;

/**
 * The error of a failed message, as its headers name it. A policy that tests for a class compares only the name of the class;
 * `Error` fits every failure.
 */
export class NotedFailure extends Error {
  override readonly name: string;

  /** @param name of the class of the error */
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}
