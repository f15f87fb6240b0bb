import type { Disk, DiskFile } from './disk.js';

/** Creates a draft. A file of this name was left from a failed unlink, and is deleted. */
export async function createAnew(disk: Disk, name: string): Promise<DiskFile> {
  try {
    return await disk.open(name, 'create');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await disk.unlink(name);
    return disk.open(name, 'create');
  }
}
