import { NotedFailure } from './noted-failure.js';

/** Nest's error for a bad request, and what validation libraries call theirs: class-validator, joi and yup, zod, valibot. */
const names: readonly unknown[] = ['BadRequestException', 'ValidationError', 'ZodError', 'ValiError'];

/** Errors that no further attempt will cure, by their names: a policy that says nothing else parks these at once. */
export function isNotRetryable(error: unknown): boolean {
  if (error instanceof NotedFailure) return names.includes(error.name);
  const { name, constructor } = (error ?? {}) as { readonly name?: unknown; readonly constructor?: unknown };
  return names.includes(name) || names.includes((constructor as { readonly name?: unknown } | undefined)?.name);
}
