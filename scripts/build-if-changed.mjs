// Before `npm pack`: builds the package unless its build is newer than all that it is made of. Runs in libs/dlx-broker.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The last file that the build writes. */
const built = 'dist/console.cjs';
const sources = ['src', '../../apps/console', '../../package-lock.json'];

/** The time of the newest change of a file, or of a file in a folder. */
function changed(path) {
  if (!statSync(path).isDirectory()) return statSync(path).mtimeMs;
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return Math.max(...names.map((name) => changed(join(path, name))));
}

if (!existsSync(built) || Math.max(...sources.map(changed)) > statSync(built).mtimeMs) {
  process.exitCode = spawnSync('npm run build', { stdio: 'inherit', shell: true }).status ?? 1;
}
