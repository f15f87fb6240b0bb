import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeDisk } from './node-disk.js';

let directory: string;
let disk: NodeDisk;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'disk-'));
  disk = new NodeDisk(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const bytes = (text: string): Buffer => Buffer.from(text);

describe('a directory of this machine', () => {
  it('keeps bytes at their position, in any number of chunks', async () => {
    const file = await disk.open('a', 'create');
    const chunks = Array.from({ length: 3_000 }, (_, index) => bytes(`${index},`));
    expect(await file.write(chunks, 0)).toBe(Buffer.concat(chunks).length);
    expect(await file.write([bytes('first'), bytes('!')], 2)).toBe(6);
    await file.sync();
    await disk.syncDir();
    const all = Buffer.concat(chunks);
    all.write('first!', 2);
    expect(readFileSync(join(directory, 'a'))).toEqual(all);
    expect(await file.size()).toBe(all.length);
    await file.close();
    expect(statSync(join(directory, 'a')).mode & 0o077).toBe(0); // only the owner may read messages
  });

  it("reads nothing by a file that is closed: its number may be another file's", async () => {
    const closed = await disk.open('a', 'create');
    await closed.write([bytes('mine')], 0);
    await closed.close();
    const other = await disk.open('b', 'create');
    await other.write([bytes('yours')], 0);
    expect(() => closed.readSync(Buffer.alloc(4), 0)).toThrow(expect.objectContaining({ code: 'EBADF' }));
    expect(() => closed.sizeSync()).toThrow(expect.objectContaining({ code: 'EBADF' }));
    await expect(closed.read(Buffer.alloc(4), 0)).rejects.toMatchObject({ code: 'EBADF' });
    await closed.close();
    await other.close();
  });

  it('reads, at once or later, up to the end', async () => {
    const file = await disk.open('a', 'create');
    await file.write([bytes('0123456789')], 0);
    const into = Buffer.alloc(4);
    expect(await file.read(into, 3)).toBe(4);
    expect(into.toString()).toBe('3456');
    expect(file.readSync(into, 8)).toBe(2);
    expect(into.toString()).toBe('8956');
    expect(await file.read(into, 10)).toBe(0);
    await file.truncate(5);
    expect(await file.size()).toBe(5);
    await file.close();
    await file.close();
  });

  it('makes files only on request, and only new ones', async () => {
    await expect(disk.open('a', 'write')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(disk.open('a', 'read')).rejects.toMatchObject({ code: 'ENOENT' });
    await (await disk.open('a', 'create')).close();
    await expect(disk.open('a', 'create')).rejects.toMatchObject({ code: 'EEXIST' });
    const file = await disk.open('a', 'read');
    await expect(file.write([bytes('x')], 0)).rejects.toMatchObject({ code: 'EBADF' });
    await file.close();
  });

  it('lists, renames and unlinks', async () => {
    for (const name of ['a', 'b']) await (await disk.open(name, 'create')).close();
    await disk.rename('b', 'c');
    await disk.unlink('a');
    expect(await disk.list()).toEqual(['c']);
  });

  it('writes nothing more once its lock is lost, but still reads', async () => {
    const file = await disk.open('a', 'create');
    await file.write([bytes('safe')], 0);
    disk.fail(new RangeError('lost'));
    disk.fail(new RangeError('later'));
    for (const attempt of [() => file.write([bytes('x')], 0), () => file.sync(), () => file.truncate(0)]) {
      await expect(attempt()).rejects.toThrow('lost');
    }
    for (const attempt of [() => disk.open('b', 'create'), () => disk.unlink('a'), () => disk.rename('a', 'b')]) {
      await expect(attempt()).rejects.toThrow('lost');
    }
    expect(file.readSync(Buffer.alloc(4), 0)).toBe(4);
    await file.close();
  });

  it('reports its free space, and that it was removed', async () => {
    expect(await disk.free()).toBeGreaterThan(0);
    rmSync(directory, { recursive: true });
    await expect(disk.free()).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(disk.list()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
