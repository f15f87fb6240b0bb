import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Child, startAs } from './served.js';

/** An unprivileged user if the test runs as root, who may do everything; else the present user. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const root = resolve(import.meta.dirname, '../..');

/** A folder with the built library that this user can read: the build itself, or a copy. */
function readable(): string {
  const { status } = spawnSync(process.execPath, [join(root, 'libs/dlx-broker/bin/dlx-broker.js'), '--version'], user);
  if (status === 0) return root;
  const copy = mkdtempSync(join(tmpdir(), 'readable-'));
  spawnSync('chmod', ['755', copy]);
  const parts = ['package.json', 'node_modules', 'libs/dlx-broker', 'test/durability/processes'];
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true, verbatimSymlinks: true });
  return copy;
}

let place: string | undefined;

/** Starts a script, named from the root of the repository, as a user without privileges. */
export function startUnprivileged(script: string, ...args: string[]): Child {
  place ??= readable();
  return startAs({ ...user, cwd: dirname(place) }, join(place, script), ...args);
}
