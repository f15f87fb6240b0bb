import { DlxConfigurationError } from './configuration-error.js';

/** Characters of a value that an error text shows. */
const mostShown = 1_000;

/** A value as it appears in an error text: short, and never an error itself. */
export function shown(value: unknown): string {
  const text = plainText(value);
  return text.length > mostShown ? `${text.slice(0, mostShown)}...` : text;
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return `function ${value.name}`;
  try {
    if (typeof value !== 'object' || value === null) return String(value);
    return JSON.stringify(value) ?? 'an object that cannot be shown';
  } catch {
    return 'an object that cannot be shown';
  }
}

export const refused = (value: unknown, origin: string, why: string): DlxConfigurationError =>
  new DlxConfigurationError(`${origin}: ${shown(value)} ${why}`);
