import { BadRequestException } from '@nestjs/common';
import type { ErrorTests } from '../topology/index.js';

/** What validation libraries call their errors: class-validator, joi and yup, zod, valibot. */
const names: readonly unknown[] = ['ValidationError', 'ZodError', 'ValiError'];

/** Errors that no further attempt will cure: a policy that says nothing else parks these at once. */
export const hopeless: ErrorTests = [
  BadRequestException,
  (error: unknown) => {
    const { name, constructor } = (error ?? {}) as { readonly name?: unknown; readonly constructor?: unknown };
    return names.includes(name) || names.includes((constructor as { readonly name?: unknown } | undefined)?.name);
  },
];
