import { DlxConfigurationError, notAPromise, refused, shown } from '../../platform/options/index.js';

import { NotedFailure } from './noted-failure.js';

/** A class of errors. Its constructor may have any parameters. */
export type ErrorClass = abstract new (...args: never[]) => unknown;

/** Selects errors: instances of a class, or those for which a function returns true. */
export type ErrorTest = ErrorClass | ((error: unknown) => boolean);

/** One or several. */
export type ErrorTests = ErrorTest | readonly ErrorTest[];

/**
 * Combines tests: the result is true if one of them is.
 * @param origin where they are written, for errors
 * @throws DlxConfigurationError for what is neither class nor function
 */
export function anyOf(tests: ErrorTests, origin: string): (error: unknown) => boolean {
  const list = (Array.isArray(tests) ? tests : [tests]) as readonly unknown[];
  const compiled = list.map((test) => {
    if (typeof test !== 'function') {
      throw new DlxConfigurationError(`${origin}: ${shown(test)} is neither a class of errors nor a function`);
    }
    return compile(test as ErrorTest, origin);
  });
  return (error) => compiled.some((holds) => holds(error));
}

/** A class differs from a function by its `prototype`: it is not writable, or it extends that of Error. */
function compile(test: ErrorTest, origin: string): (error: unknown) => boolean {
  if (isClass(test)) {
    return (error) => error instanceof test || (error instanceof NotedFailure && error.name === test.name);
  }
  const predicate = test;
  return (error) => {
    const answer: unknown = notAPromise(predicate(error), `${origin}: ${predicate.name || 'a function'}`);
    if (typeof answer === 'boolean') return answer;
    if (answer === undefined || answer === null) return false;
    throw refused(answer, `${origin}: ${predicate.name || 'a function'}`, 'was its answer, neither true nor false');
  };
}

function isClass(test: ErrorTest): test is ErrorClass {
  if (test === Error || (test.prototype as unknown) instanceof Error) return true;
  return Object.getOwnPropertyDescriptor(test, 'prototype')?.writable === false;
}
