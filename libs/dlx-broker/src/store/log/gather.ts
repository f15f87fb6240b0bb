import { isLost } from '../../message/index.js';
import type { StoreError } from '../store-error.js';
import type { Inventory } from './inventory.js';
import { numberIn } from './slot.js';

/** So often a body is read that cannot be read, and milliseconds before the second try; then twice as long each time. */
const tries = 7;
const firstWait = 100;

/**
 * Brings into memory what the batch writes whole in this turn although its body lies on disk: a message that left a
 * queue which is not kept for one that is. What is proven lost stays where it is, and only its entry is written.
 * @param limit messages it may write
 * @returns why one of them cannot be read now: nothing may be written without it
 */
export function gather({ fresh, messages }: Inventory, limit: number): StoreError | undefined {
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

/** Resolves when it is time for the next try. @param attempt from 0 @throws the error when there were enough */
export async function beforeNextTry(attempt: number, error: StoreError): Promise<void> {
  if (attempt >= tries) throw error;
  await new Promise((resolve) => setTimeout(resolve, firstWait * 2 ** attempt));
}
