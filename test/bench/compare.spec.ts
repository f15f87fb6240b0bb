import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verdictOf } from '../../bench/compare/verdict.js';
import { commitOf, type Options, withBuilds } from '../../bench/compare/worktrees.js';
import { UsageError } from '../../bench/usage.js';

describe('the verdict on two commits', () => {
  it('is the median of pairs: a regression is over 10 %, and single runs do not decide', () => {
    const base = [100, 100, 100, 100, 100];
    expect(verdictOf({ base, head: [111, 112, 90, 130, 112] }).says).toBe('slower');
    expect(verdictOf({ base, head: [110, 109, 300, 300, 100] })).toEqual({
      ratio: 1.1,
      least: 1,
      most: 3,
      says: 'same',
    });
    expect(verdictOf({ base, head: [50, 50, 50, 200, 200] }).says).toBe('faster');
  });

  it('compares runs that took turns, so that a slower machine slows both', () => {
    expect(verdictOf({ base: [100, 200, 400], head: [101, 202, 404] }).ratio).toBeCloseTo(1.01);
  });
});

describe('worktrees of two commits', () => {
  const root = mkdtempSync(join(tmpdir(), 'compare-spec-'));
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', root, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const commits: string[] = [];
  let controller = new AbortController();
  const options = (build: Options['build'] = async () => undefined): Options => ({
    root,
    signal: (controller = new AbortController()).signal,
    say: () => undefined,
    build,
  });
  const worktrees = (): number => git('worktree', 'list').split('\n').length;

  beforeAll(() => {
    git('init', '-q');
    for (const text of ['one', 'two']) {
      writeFileSync(join(root, 'file'), text);
      git('add', 'file');
      git('commit', '-q', '-m', text);
      commits.push(git('rev-parse', 'HEAD'));
    }
    writeFileSync(join(root, 'file'), 'not committed');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('have what was committed, outside the checkout, and are removed', async () => {
    let [parent, seen] = ['', ''];
    const texts = await withBuilds(commits, options(), async (folders) => {
      parent = dirname(folders[0] as string);
      seen = git('worktree', 'list');
      return folders.map((folder) => readFileSync(join(folder, 'file'), 'utf8'));
    });
    expect(texts).toEqual(['one', 'two']);
    expect(seen.split('\n')).toHaveLength(3);
    expect(parent.startsWith(root)).toBe(false);
    expect(existsSync(parent)).toBe(false);
    expect(worktrees()).toBe(1);
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('not committed');
  });

  it('are removed when a build fails', async () => {
    const build = (): Promise<void> => Promise.reject(new Error('it does not compile'));
    await expect(withBuilds(commits, options(build), async () => undefined)).rejects.toThrow('it does not compile');
    expect(worktrees()).toBe(1);
  });

  it('are removed when the command is interrupted, during a build or a run', async () => {
    let folder = '';
    const build: Options['build'] = async (at, signal) => {
      folder = at;
      controller.abort();
      signal.throwIfAborted();
    };
    await expect(withBuilds(commits, options(build), async () => undefined)).rejects.toThrow('aborted');
    const use = async (): Promise<void> => {
      controller.abort();
      controller.signal.throwIfAborted();
    };
    await expect(withBuilds(commits, options(), use)).rejects.toThrow('aborted');
    expect(existsSync(folder)).toBe(false);
    expect(worktrees()).toBe(1);
  });

  it('are refused for a commit that git does not know', async () => {
    await expect(commitOf(root, 'HEAD')).resolves.toBe(commits[1]);
    for (const name of ['no-such-branch', '--help', '']) {
      await expect(commitOf(root, name)).rejects.toThrow(UsageError);
    }
  });
});
