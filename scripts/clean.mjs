// Removes a build's output, so that a renamed file does not live on in it: `node scripts/clean.mjs dist`.
import { rmSync } from 'node:fs';

for (const folder of process.argv.slice(2)) rmSync(folder, { recursive: true, force: true });
