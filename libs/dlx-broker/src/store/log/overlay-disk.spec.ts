import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeDisk } from './node-disk.js';
import { OverlayDisk } from './overlay-disk.js';

let directory: string;
let disk: OverlayDisk;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'overlay-'));
  for (const name of ['a', 'b', 'c']) writeFileSync(join(directory, name), `this is ${name}`);
  disk = new OverlayDisk(new NodeDisk(directory));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function text(name: string): Promise<string> {
  const file = await disk.open(name, 'read');
  const into = Buffer.alloc(await file.size());
  expect(await file.read(into, 0)).toBe(into.length);
  const again = Buffer.alloc(into.length);
  expect(file.readSync(again, 0)).toBe(into.length);
  expect(again).toEqual(into);
  return into.toString();
}

describe('a disk that is only looked at', () => {
  it('shows every change, and makes none', async () => {
    const a = await disk.open('a', 'write');
    await a.write([Buffer.from('was'), Buffer.from(' A and more')], 5);
    await a.sync();
    await (await disk.open('b', 'write')).truncate(4);
    await disk.unlink('c');
    await (await disk.open('d', 'create')).write([Buffer.from('new')], 0);
    await disk.rename('b', 'e');
    await disk.syncDir();
    expect([...(await disk.list())].sort()).toEqual(['a', 'd', 'e']);
    expect(await text('a')).toBe('this was A and more');
    expect(await text('d')).toBe('new');
    expect(await text('e')).toBe('this');
    expect(await (await disk.open('a', 'read')).read(Buffer.alloc(4), 100)).toBe(0);
    expect(readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))).toEqual([
      'this is a',
      'this is b',
      'this is c',
    ]);
  });
});
