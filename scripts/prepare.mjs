// Runs after `npm ci`: compiles the library if it was never built, because Nest's command line builds the applications of apps/ against libs/dlx-broker/dist.
// Types are emitted and not checked. `npm run build` builds what is published.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

// tsc is missing after an installation without development dependencies.
if (existsSync('node_modules/typescript') && !existsSync('libs/dlx-broker/dist/index.js')) {
  const { status } = spawnSync('npm run compile --silent --workspace dlx-broker', { stdio: 'inherit', shell: true });
  process.exitCode = status ?? 1;
}
