import type { StoreSlot } from '../../engine/message/index.js';

/**
 * What this store notes in an object of the core: the number of its row in a table. Messages, entries and queues have a
 * table each, whose numbers begin with 1. A queue that is not stored has 0.
 */
export const slotOf = (number: number): StoreSlot => number as unknown as StoreSlot;

/** @returns 0 when there is no row */
export const numberIn = (slot: StoreSlot | undefined): number => (slot as unknown as number | undefined) ?? 0;
