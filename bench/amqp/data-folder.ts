import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where everybody's data lie whose place we choose: beside the built bench, for a temporary folder may be memory. */
const root = fileURLToPath(new URL('./', import.meta.url));

/** A new folder, and how to be rid of it. */
export function dataFolder(name: string): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(root, `bench-data-${name}-`));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
