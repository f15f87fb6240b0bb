import { isThenable, type OwnTimers } from '../../../platform/index.js';
import { describeError } from '../../core/failure.js';
import { ContractError } from './contract-error.js';
import type { StandardSchema } from './standard-schema.js';

/** What is checked, and by which schema. */
export interface Term {
  readonly schema: StandardSchema;
  /** For errors: `the payload of 'order.created'`. */
  readonly what: string;
  /** The routing key of the contract. */
  readonly pattern: string;
  /** How long the schema may take, in milliseconds. */
  readonly timeout: number;
}

/** The value that a schema made, or why there is none. */
export type Verdict =
  { readonly failure?: undefined; readonly value: unknown } | { readonly failure: Error; readonly value?: undefined };

/**
 * A schema threw, answered nothing that is an answer, or took too long. That says nothing about the payload, so it is a failure like
 * others, and may be retried.
 */
class SchemaFailedError extends Error {
  override readonly name = 'SchemaFailedError';

  constructor({ what }: Term, why: string, cause?: unknown) {
    super(`the schema for ${what} ${why}`, cause === undefined ? undefined : { cause });
  }
}

/** The time limits of schemas. */
export interface SchemaTimers {
  readonly timers: OwnTimers;
  /** True: a check that is under way when the timers are closed fails. Otherwise it stays undecided. */
  readonly failsAtClose: boolean;
}

/**
 * Checks a value. It never throws, and its promise never rejects.
 * @returns a promise only if the schema answers later
 */
export function check(term: Term, value: unknown, limits: SchemaTimers): Verdict | Promise<Verdict> {
  try {
    const answer: unknown = term.schema['~standard'].validate(value);
    return isThenable(answer) ? inTime(term, answer, limits) : verdictOf(term, answer);
  } catch (error) {
    return failed(term, error);
  }
}

/**
 * Why a value breaks its contract, for what reads the value before the contract is checked. It never throws.
 * @returns undefined if it does not, and if the schema answers later or fails
 */
export function breachOf(term: Term, value: unknown): ContractError | undefined {
  try {
    const answer: unknown = term.schema['~standard'].validate(value);
    if (isThenable(answer)) Promise.resolve(answer).catch(() => undefined);
    else {
      const { failure } = verdictOf(term, answer);
      if (failure instanceof ContractError) return failure;
    }
  } catch {
    // The schema failed: that says nothing about the value.
  }
  return undefined;
}

function inTime(term: Term, answer: PromiseLike<unknown>, { timers, failsAtClose }: SchemaTimers): Promise<Verdict> {
  return new Promise((resolve) => {
    const fail = (why: string) => (): void => resolve({ failure: new SchemaFailedError(term, why) });
    const closed = failsAtClose ? fail('had not answered when the application closed') : undefined;
    const cancel = timers.after(term.timeout, fail(`did not answer within ${term.timeout} ms`), closed);
    const answered = (verdict: Verdict): void => {
      cancel();
      resolve(verdict);
    };
    Promise.resolve(answer)
      .then((known) => verdictOf(term, known))
      .catch((error: unknown) => failed(term, error))
      .then(answered, answered);
  });
}

/** What a schema answered comes from code of others: it is looked at with care. */
function verdictOf(term: Term, answer: unknown): Verdict {
  const { issues, value } = answer as { readonly issues?: unknown; readonly value?: unknown };
  if (issues === undefined) {
    if (typeof answer === 'object' && answer !== null && 'value' in answer) return { value };
    return { failure: new SchemaFailedError(term, 'answered neither a value nor issues') };
  }
  if (!Array.isArray(issues)) return { failure: new SchemaFailedError(term, 'answered issues that are no list') };
  return { failure: new ContractError(term.what, term.pattern, issues) };
}

const failed = (term: Term, error: unknown): Verdict => {
  const { name, message } = describeError(error);
  return { failure: new SchemaFailedError(term, `failed: ${name}: ${message}`, error) };
};
