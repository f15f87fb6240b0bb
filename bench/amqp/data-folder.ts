import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The data directories: beside the built bench, because a temporary folder may be in memory. */
const usualParent = fileURLToPath(new URL('./', import.meta.url));

/** A new folder, and the function that removes it. */
export function dataFolder(name: string, parent = usualParent): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(parent, `bench-data-${name}-`));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
