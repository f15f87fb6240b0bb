// Joins what tsc made of the library into one file for each way in, and chunks they share: node reads a hundred small
// modules in a tenth of a second, and one large one in a tenth of that. Declarations stay as tsc wrote them, without those
// that no way in leads to.
// `node scripts/bundle.mjs dist index engine testing/index`.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { rolldown } from 'rolldown';
import { rooms } from './rooms.mjs';

const [dist, ...entries] = process.argv.slice(2);
const joined = `${dist}.joined`;

/** The chunks, in the order in which they take files: each takes what its rooms import from rooms without a chunk, too. */
const chunks = ['broker', 'wire', 'redrive', 'nest'];

/** Files beside the rooms that every start of a broker reads. */
const atStart = ['open-broker', 'listeners'];

const lazy = rooms.flatMap(({ name, lazy: folders = [] }) => folders.map((folder) => `${name}/${folder}`));

const missingRooms = [...rooms.map(({ name }) => name), ...lazy].filter((name) => !existsSync(join(dist, name)));
if (missingRooms.length > 0) throw new Error(`scripts/rooms.mjs names rooms that are not there: ${missingRooms}`);

/** The files of the rooms of a chunk, without the folders that are read when they are needed. */
function chunk(name) {
  const names = rooms.filter((room) => room.chunk === name).map((room) => room.name);
  if (name === 'broker') names.push(...atStart);
  const path = `/${basename(dist)}/(?!(${lazy.join('|')})/)(${names.join('|')})(/|\\.)`;
  return { name, test: new RegExp(path.replaceAll('/', '[\\\\/]')) };
}

const bundle = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, join(dist, `${entry}.js`)])),
  platform: 'node',
  // Nest, RxJS and all other packages stay what the application has installed.
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
});
await bundle.write({
  dir: joined,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  // A file costs more than what is in it: what an application loads at its start is in few of them.
  codeSplitting: { groups: chunks.map(chunk) },
});
await bundle.close();

for (const file of filesIn(dist)) if (file.endsWith('.js')) rmSync(join(dist, file));
for (const file of filesIn(joined)) {
  mkdirSync(dirname(join(dist, file)), { recursive: true });
  renameSync(join(joined, file), join(dist, file));
}
rmSync(joined, { recursive: true });

const missing = entries.filter((entry) => !existsSync(join(dist, `${entry}.js`)));
if (missing.length > 0) throw new Error(`not joined: ${missing.join(', ')}`);

// Of the declarations stay those that an application's compiler can reach from a way in.
const reached = new Set();
for (const entry of entries) reach(`${entry}.d.ts`);
for (const file of filesIn(dist)) if (file.endsWith('.d.ts') && !reached.has(file)) rmSync(join(dist, file));

function reach(file) {
  if (reached.has(file)) return;
  reached.add(file);
  const text = readFileSync(join(dist, file), 'utf8');
  for (const [, path] of text.matchAll(/(?:from|import\(|import) ?['"](\.[^'"]+)\.js['"]/g)) {
    reach(normalize(join(dirname(file), `${path}.d.ts`)));
  }
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
