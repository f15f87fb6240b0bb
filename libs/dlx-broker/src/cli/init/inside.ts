import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Refusal } from '../refusal.js';

/** The most links that lead to one file. */
const mostLinks = 40;

/**
 * Checks that a file which is written belongs to a folder. Links and `..` in a folder of another author could lead to any file of the user.
 * @throws {Refusal} if it is outside
 */
export function checkInside(folder: string, file: string): void {
  const place = placeOf(join(folder, file), mostLinks);
  const way = relative(realpathSync(folder), place);
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return;
  throw new Refusal(
    `${file} is ${place}, which is outside of ${folder}: correct --module FILE, sourceRoot of nest-cli.json, or the link. Nothing was changed.`,
  );
}

/** Checks that a file can be written where it is to be. @throws {Refusal} where a folder has its name, or a file that of its folder */
export function checkPlace(folder: string, file: string): void {
  if (kindOf(join(folder, file)) === 'folder')
    throw new Refusal(`${file} is a folder: rename it. Nothing was changed.`);
  for (let above = dirname(file); above !== dirname(above); above = dirname(above)) {
    if (kindOf(join(folder, above)) === 'file') {
      throw new Refusal(`${above} is a file, and should be a folder: rename it. Nothing was changed.`);
    }
  }
}

/** What a path leads to; undefined if it leads nowhere. */
export function kindOf(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return 'folder';
    return found.isFile() ? 'file' : 'other';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Where a file is, or would be made, when all links are followed. */
function placeOf(path: string, links: number): string {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return join(placeOf(dirname(path), links), basename(path));
  const folder = realpathSync(dirname(path));
  if (!entry.isSymbolicLink()) return join(folder, basename(path));
  if (links === 0) throw new Refusal(`${path} is a link that leads to no file. Nothing was changed.`);
  return placeOf(resolve(folder, readlinkSync(path)), links - 1);
}
