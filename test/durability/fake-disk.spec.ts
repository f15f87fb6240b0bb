import { describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.js';
import { FakeDisk } from './fake-disk.js';

const text = (disk: FakeDisk, name: string): string | undefined => disk.files().get(name)?.toString('latin1');

/** What is found in many power cuts at this very moment. */
function cuts(disk: FakeDisk, name: string): Set<string | undefined> {
  const found = new Set<string | undefined>();
  for (let seed = 0; seed < 200; seed++) found.add(text(disk.afterPowerCut(new Random(seed)), name));
  return found;
}

async function arrange(): Promise<FakeDisk> {
  const disk = new FakeDisk();
  disk.isManual = false;
  const file = await disk.open('a', 'create');
  await file.write([Buffer.from('safe.')], 0);
  await file.sync();
  await disk.syncDir();
  return disk;
}

describe('the disk of the power cuts', () => {
  it('keeps what was synced, whatever is written beside it', async () => {
    const disk = await arrange();
    expect(cuts(disk, 'a')).toEqual(new Set(['safe.']));
    const file = await disk.open('a', 'write');
    await file.write([Buffer.alloc(2_000, 'x')], 5);
    const found = cuts(disk, 'a');
    expect(found.size).toBeGreaterThan(50);
    for (const each of found) expect(each?.slice(0, 5)).toBe('safe.');
    await file.sync();
    expect(cuts(disk, 'a')).toEqual(new Set([`safe.${'x'.repeat(2_000)}`]));
  });

  it('keeps, forgets, blanks and garbles sectors that were not', async () => {
    const disk = await arrange();
    await (await disk.open('a', 'write')).write([Buffer.alloc(507 + 512, 'x')], 5);
    const found = [...cuts(disk, 'a')].filter((each) => each?.length === 1_024) as string[];
    const second = found.map((each) => each.slice(512));
    expect(second).toContain('x'.repeat(512));
    expect(second).toContain('\0'.repeat(512));
    expect(second.some((each) => !each.startsWith('x') && !each.startsWith('\0'))).toBe(true);
    expect(new Set(second.map((each) => each.length))).toEqual(new Set([512]));
  });

  it('a sync is for what was written before it began', async () => {
    const disk = await arrange();
    const file = await disk.open('a', 'write');
    disk.isManual = true;
    const syncing = file.sync();
    const writing = file.write([Buffer.from('late')], 5);
    disk.advance();
    disk.advance();
    await Promise.all([syncing, writing]);
    expect(cuts(disk, 'a').has('safe.')).toBe(true);
  });

  it('forgets files that were made, renamed or unlinked until the directory is synced', async () => {
    const disk = await arrange();
    await disk.open('b', 'create');
    await disk.unlink('a');
    expect(cuts(disk, 'a')).toEqual(new Set(['safe.', undefined]));
    expect(cuts(disk, 'b')).toEqual(new Set(['', undefined]));
    await disk.syncDir();
    expect(cuts(disk, 'a')).toEqual(new Set([undefined]));
    expect(cuts(disk, 'b')).toEqual(new Set(['']));
    await disk.rename('b', 'c');
    expect(cuts(disk, 'c')).toEqual(new Set(['', undefined]));
  });

  it('has so much room and no more', async () => {
    const disk = await arrange();
    disk.capacity = 10;
    const file = await disk.open('a', 'write');
    expect(await disk.free()).toBe(5);
    expect(await file.write([Buffer.from('12'), Buffer.from('345678')], 5)).toBe(5);
    await expect(file.write([Buffer.from('9')], 10)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await file.write([Buffer.from('SAFE')], 0)).toBe(4);
    await file.truncate(7);
    expect(text(disk, 'a')).toBe('SAFE.12');
    expect(await file.write([Buffer.from('345678')], 7)).toBe(3);
  });

  it('tells of every moment in which the power may be cut', async () => {
    const disk = await arrange();
    let moments = 0;
    disk.onStep = () => moments++;
    const file = await disk.open('a', 'write');
    await file.write([Buffer.from('x')], 5);
    await file.sync();
    await disk.syncDir();
    expect(moments).toBe(5);
  });
});
