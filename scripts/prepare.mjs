// Runs after `npm ci`: compiles the library if it was never built, because Nest's command line builds the applications of apps/ against libs/dlx-broker/dist.
// Types are emitted and not checked. `npm run build` builds what is published.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const tsc = 'node_modules/typescript/bin/tsc'; // missing after an installation without development dependencies
if (existsSync(tsc) && !existsSync('libs/dlx-broker/dist/index.js')) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'libs/dlx-broker/tsconfig.lib.json', '--noCheck'], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
