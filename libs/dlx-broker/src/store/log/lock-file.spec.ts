import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from './faults.js';
import { lockDirectory, ownIdentity } from './lock-file.js';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'lock-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const options = { lost: () => undefined, beat: 10, watch: 60 };
const locks = (): string[] => readdirSync(directory);

/** The lock of some other process. */
function theirs(changed: object, seconds = 0): string {
  const path = join(directory, 'process-1-them.lock');
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), ...changed }));
  const time = new Date(Date.now() - seconds * 1000);
  utimesSync(path, time, time);
  return path;
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreError)) throw error ?? new TypeError('it was not refused');
  return error.code;
}

describe('the lock of a data directory', () => {
  it('has one holder at a time, and leaves no file', async () => {
    const lock = await lockDirectory(directory, options);
    await expect(lockDirectory(directory, options)).rejects.toThrow(
      /in use by this very process; close the broker that has it, or name another directory \(its lock is /,
    );
    expect(locks()).toHaveLength(1);
    lock.release();
    expect(locks()).toEqual([]);
    (await lockDirectory(directory, options)).release();
  });

  it('never has two holders that come together', async () => {
    for (let round = 0; round < 20; round++) {
      const attempts = await Promise.allSettled([1, 2, 3].map(() => lockDirectory(directory, options)));
      const had = attempts.filter((attempt) => attempt.status === 'fulfilled');
      expect(had.length).toBeLessThanOrEqual(1);
      for (const { value } of had) value.release();
    }
  });

  it('is refused while its process lives', async () => {
    theirs({});
    expect(await codeOf(lockDirectory(directory, options))).toBe('locked');
  });

  it('is taken from a process that is dead', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    theirs({ pid });
    const lock = await lockDirectory(directory, options);
    expect(locks()).toHaveLength(1);
    lock.release();
  });

  it.runIf(ownIdentity().started !== undefined)('is taken when its number is now that of another process', async () => {
    theirs({ started: '1' });
    (await lockDirectory(directory, options)).release();
  });

  it.each([
    ['before the machine started anew', { boot: 'earlier' }],
    ['in another container', { namespace: 'pid:[1]' }],
  ])('%s is taken when it shows no sign of life, at once if it is old', async (_, mark) => {
    theirs(mark, 3600);
    const begun = performance.now();
    (await lockDirectory(directory, { ...options, watch: 5_000 })).release();
    expect(performance.now() - begun).toBeLessThan(1_000);
    theirs(mark);
    (await lockDirectory(directory, options)).release();
  });

  // As on Windows and macOS: the event loop of its process may be blocked.
  it('is refused while a process has its number, though silent, where the system does not say when it began', async () => {
    const path = theirs({ pid: process.ppid, started: undefined }, 1);
    await expect(lockDirectory(directory, options)).rejects.toThrow(
      `is in use by process ${process.ppid}; stop that process first, or, if it does not use this directory, delete the lock ${path}`,
    );
  });

  it('is taken there if its last sign of life is from before the machine started', async () => {
    theirs({ pid: process.ppid, started: undefined }, uptime() + 60);
    (await lockDirectory(directory, options)).release();
  });

  it('is given up while an unseen process is watched', async () => {
    theirs({ namespace: 'pid:[1]' });
    const reason = new Error('no longer needed');
    const stop = new AbortController();
    const lock = lockDirectory(directory, { ...options, signal: stop.signal });
    stop.abort(reason);
    await expect(lock).rejects.toBe(reason);
    expect(locks()).toHaveLength(1);
  });

  it('is refused while a process that is not visible renews it', async () => {
    const path = theirs({ namespace: 'pid:[1]' });
    const heart = setInterval(() => utimesSync(path, new Date(), new Date()), 5);
    try {
      expect(await codeOf(lockDirectory(directory, { ...options, watch: 5_000 }))).toBe('locked');
    } finally {
      clearInterval(heart);
    }
  });

  it('is refused beside a file of that kind by another program', async () => {
    writeFileSync(join(directory, 'yarn.lock'), 'something');
    expect(await codeOf(lockDirectory(directory, options))).toBe('foreign-file');
    expect(locks()).toEqual(['yarn.lock']);
  });

  it('reports when it is lost', async () => {
    const lost = new Promise<StoreError>((resolve) => void lockDirectory(directory, { ...options, lost: resolve }));
    rmSync(directory, { recursive: true });
    expect((await lost).code).toBe('vanished');
  });

  it('is refused where nothing can be written', async () => {
    expect(await codeOf(lockDirectory(join(directory, 'missing'), options))).toBe('not-allowed');
    if (process.getuid?.() === 0) return; // the superuser may write everywhere
    chmodSync(directory, 0o500);
    expect(await codeOf(lockDirectory(directory, options))).toBe('not-allowed');
  });

  it('removes drafts that never became locks', async () => {
    const path = join(directory, 'process-1-them.lock.new');
    writeFileSync(path, '');
    utimesSync(path, 1, 1);
    (await lockDirectory(directory, options)).release();
    expect(locks()).toEqual([]);
  });
});
