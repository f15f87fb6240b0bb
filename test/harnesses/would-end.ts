import type { EventEmitter } from 'node:events';
import { afterEach, beforeEach } from 'vitest';

const events = ['unhandledRejection', 'uncaughtException'] as const;

/** @returns the errors of the present test that would end the process, because no code handles them */
export function wouldEndProcess(): readonly unknown[] {
  const ends: unknown[] = [];
  const note = (error: unknown): void => void ends.push(error);
  beforeEach(() => {
    ends.splice(0);
    for (const event of events) (process as EventEmitter).prependListener(event, note);
  });
  afterEach(() => {
    for (const event of events) (process as EventEmitter).removeListener(event, note);
  });
  return ends;
}
