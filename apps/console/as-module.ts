import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'vite';

/**
 * Joins the built files in one CommonJS module beside their folder, which goes: `files` of it has their texts by their paths. The library
 * imports it, and bundlers of applications find it there. The notices of licences stay a file.
 */
export function asModule(notices: string): Plugin {
  let folder = '';
  return {
    name: 'as-module',
    apply: 'build',
    configResolved: ({ root, build }) => void (folder = resolve(root, build.outDir)),
    closeBundle() {
      const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      const texts = paths.map((path) => [
        path.slice(folder.length + 1).replaceAll('\\', '/'),
        readFileSync(path, 'utf8'),
      ]);
      writeFileSync(`${folder}.cjs`, `exports.files = ${JSON.stringify(Object.fromEntries(texts))};\n`);
      renameSync(join(folder, notices), join(folder, '..', notices));
      rmSync(folder, { recursive: true });
    },
  };
}
