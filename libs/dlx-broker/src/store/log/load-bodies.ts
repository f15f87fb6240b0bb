import { isLost } from '../../engine/message/index.js';
import type { StoreError } from '../store-error.js';
import type { Inventory } from './inventory.js';
import { numberIn } from './slot.js';

/** The most tries to read a body. The pause after the first try, in milliseconds, doubles after each further try. */
const tries = 7;
const firstPause = 100;

/**
 * Loads the bodies on disk that the batch needs in this turn: those of messages that moved from a queue that is not stored to one
 * that is. If a body is lost, only the entry is written.
 * @param limit messages of this turn
 * @returns the error when a body cannot be read now: the batch has to wait
 */
export function loadBodies({ fresh, messages }: Inventory, limit: number): StoreError | undefined {
  const count = Math.min(fresh.length, limit);
  for (let index = 0; index < count; index++) {
    const message = fresh.at(index);
    const number = numberIn(message.slot);
    if (message.isLoaded || number === 0) continue;
    if (messages.segment.get(number) !== 0 || messages.root.get(number) !== 0) continue;
    try {
      message.load();
    } catch (error) {
      if (!isLost(error)) return error as StoreError;
    }
  }
  return undefined;
}

/** Resolves when it is time for the next try. @param attempt counted from 0 @throws the error after the last try */
export async function beforeNextTry(attempt: number, error: StoreError): Promise<void> {
  if (attempt >= tries) throw error;
  await new Promise((resolve) => setTimeout(resolve, firstPause * 2 ** attempt));
}
