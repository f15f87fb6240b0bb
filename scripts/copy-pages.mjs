// tsc copies no HTML, CSS or JSON: what is not TypeScript goes along unchanged. `node scripts/copy-pages.mjs src dist`.
import { cpSync, statSync } from 'node:fs';

const [from, to] = process.argv.slice(2);

/** Only folders that hold something to copy come into being where tsc has not made them already. */
cpSync(from, to, { recursive: true, filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts') });
