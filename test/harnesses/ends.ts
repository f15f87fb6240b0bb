import { afterEach } from 'vitest';

/** @returns a list for functions that close what a test opened; after each test they are called, the last one first */
export function endsAfterEach(): (() => unknown)[] {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return ends;
}
