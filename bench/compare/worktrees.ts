import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '../usage.js';

const execute = promisify(execFile);

export interface Options {
  /** The checkout whose repository has the commits. */
  readonly root: string;
  /** Ends everything early; the worktrees are removed all the same. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** Builds the library in a worktree. */
  readonly build: (folder: string, signal: AbortSignal) => Promise<void>;
}

/** The full name of a commit. @throws UsageError for a name that git does not know */
export async function commitOf(root: string, name: string): Promise<string> {
  try {
    const { stdout } = await execute('git', [
      '-C',
      root,
      'rev-parse',
      '--verify',
      '--end-of-options',
      `${name}^{commit}`,
    ]);
    return stdout.trim();
  } catch {
    throw new UsageError(`git knows no commit '${name}'`);
  }
}

/**
 * Builds commits in worktrees outside the checkout, calls a function with their folders, and removes them, also if a build fails or
 * the signal ends it.
 * @param commits their full names
 */
export async function withBuilds<T>(
  commits: readonly string[],
  { root, signal, say, build }: Options,
  use: (folders: readonly string[]) => Promise<T>,
): Promise<T> {
  const parent = mkdtempSync(join(tmpdir(), 'dlx-broker-compare-'));
  const folders = commits.map((_, index) => join(parent, String(index)));
  try {
    for (const [index, commit] of commits.entries()) {
      signal.throwIfAborted();
      const folder = folders[index] as string;
      say(`building ${commit.slice(0, 10)}`);
      await execute('git', ['-C', root, 'worktree', 'add', '--detach', folder, commit], { signal });
      await install(root, folder, signal, say);
      await build(folder, signal);
    }
    return await use(folders);
  } finally {
    rmSync(parent, { recursive: true, force: true });
    // The folders are gone, so git forgets their worktrees.
    execFileSync('git', ['-C', root, 'worktree', 'prune']);
  }
}

/** Gives a worktree the installed packages of the checkout, or those of its own lock file if it differs. */
async function install(root: string, folder: string, signal: AbortSignal, say: (line: string) => void): Promise<void> {
  const lockOf = (at: string): string => {
    const path = join(at, 'package-lock.json');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  if (lockOf(root) !== lockOf(folder)) {
    say('its package-lock.json differs: installing its packages');
    await execute('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, signal });
    return;
  }
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  if (!existsSync(from)) return;
  mkdirSync(to);
  // Other names with a dot are caches of this checkout.
  for (const name of readdirSync(from).filter((one) => !one.startsWith('.') || one === '.bin')) {
    const path = join(from, name);
    // The packages of the workspace are relative links, and mean those of the worktree there.
    symlinkSync(lstatSync(path).isSymbolicLink() ? readlinkSync(path) : path, join(to, name));
  }
}

/** Builds the library, and takes the programs of the benchmark from the checkout, so that both commits run the same. */
export async function buildLibrary(root: string, folder: string, signal: AbortSignal): Promise<void> {
  await execute('npm', ['run', 'build', '--workspace', 'dlx-broker'], { cwd: folder, signal, maxBuffer: 64 * 2 ** 20 });
  cpSync(join(root, 'dist/bench'), join(folder, 'dist/bench'), { recursive: true });
}
