import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { DlxConfigurationError } from '../../libs/dlx-broker/src/platform/options/index.js';

/** A case for each value, named by it: what is tried fails with an error of configuration that says what the row has. */
export function refuses<Given>(
  attempt: (given: Given) => unknown,
  rows: readonly (readonly [Given, RegExp | string])[],
): void {
  it.each(rows.map(([given, text]) => ({ what: shown(given), given, text })))('$what', ({ given, text }) => {
    expect(() => attempt(given)).toThrow(DlxConfigurationError);
    expect(() => attempt(given)).toThrow(text);
  });
}

/** The value as it is written. */
const shown = (given: unknown): string => (typeof given === 'function' ? `${given}` : inspect(given, { depth: 4 }));
