// Builds an application of apps/ and runs it: `node scripts/start.mjs sample-retry [options of the application]`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [app] = process.argv.splice(2, 1);
const builder = fileURLToPath(new URL('quick-build.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [builder, app], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
await import(new URL(`../dist/quick/${app}/main.js`, import.meta.url));
