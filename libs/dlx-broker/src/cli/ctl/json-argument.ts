import { CtlFailure, exit, refused } from './exit.js';

/** An argument that has to be a JSON object. @throws CtlFailure in RabbitMQ's words */
export function jsonArgument(text: string): { readonly value: Readonly<Record<string, unknown>> } {
  const value = json(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CtlFailure(exit.unavailable, 'Error:\nIt must be a JSON object');
  return { value: value as Readonly<Record<string, unknown>> };
}

/** Any JSON value. @throws CtlFailure */
export function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused(exit.unavailable, 'JSON decoding error. Reason: badarg');
  }
}
