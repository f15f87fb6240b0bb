import { constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NodeDisk } from './node-disk.js';

const { synced } = vi.hoisted(() => ({ synced: [] as number[] }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const fdatasync = (fd: number, done: (error: NodeJS.ErrnoException | null) => void): void => {
    synced.push(fd);
    fs.fdatasync(fd, done);
  };
  return { ...fs, fdatasync };
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'disk-'));
  synced.length = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What the system says of an open file. */
const flagsOf = (fd: number): number =>
  Number.parseInt(/flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '', 8);

const isThrough = (file: unknown): boolean =>
  (flagsOf((file as { readonly fd: number }).fd) & constants.O_DSYNC) === constants.O_DSYNC;

describe.runIf(process.platform === 'linux')('a directory that is written through to the disk', () => {
  it('makes each write wait for the disk, and syncs only what no write made safe', async () => {
    const disk = new NodeDisk(directory, { writesThrough: true });
    const file = await disk.open('a', 'create');
    expect(isThrough(file)).toBe(true);
    await file.write([Buffer.from('0123456789')], 0);
    await file.sync();
    expect(synced).toHaveLength(0);
    await file.truncate(5);
    await file.sync();
    expect(synced).toHaveLength(1);
    await file.write([Buffer.from('x')], 5);
    await file.sync();
    expect(synced).toHaveLength(1);
    await file.close();
  });

  it('syncs what a process before it left in a file', async () => {
    const disk = new NodeDisk(directory, { writesThrough: true });
    await (await disk.open('a', 'create')).close();
    const file = await disk.open('a', 'write');
    expect(isThrough(file)).toBe(true);
    await file.write([Buffer.from('x')], 0);
    await file.sync();
    expect(synced).toHaveLength(1);
    await file.sync();
    expect(synced).toHaveLength(1);
    await file.close();
  });

  it('is off by default', async () => {
    const disk = new NodeDisk(directory);
    const file = await disk.open('a', 'create');
    expect(isThrough(file)).toBe(false);
    await file.write([Buffer.from('x')], 0);
    await file.sync();
    await file.sync();
    expect(synced).toHaveLength(2);
    await file.close();
  });
});
