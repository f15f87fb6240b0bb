// Joins what tsc made of the library into one CommonJS file for each way in, and chunks they share: node reads a hundred
// small modules in a tenth of a second, and one large one in a tenth of that. A chunk has what is needed at the same time,
// because node reads every function of a file before it runs the first one. CommonJS is what jest, bundlers, `require` and
// `import` all read without a setting, and it is there once in a process. Declarations stay as tsc wrote them, without those
// that no way in leads to.
// `node scripts/bundle.mjs dist index engine testing`.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { rolldown } from 'rolldown';
import ts from 'typescript';

const [dist, ...entries] = process.argv.slice(2);
const joined = `${dist}.joined`;

// For rolldown, tsc's output are ES modules, whatever the package is.
writeFileSync(join(dist, 'package.json'), '{ "type": "module", "sideEffects": false }');
const bundle = await rolldown({
  // What an entry exports is compared below.
  preserveEntrySignatures: 'allow-extension',
  input: Object.fromEntries(entries.map((entry) => [entry, join(dist, `${entry}.js`)])),
  platform: 'node',
  // The chunks are chosen below.
  experimental: { chunkOptimization: false },
  // Nest, RxJS and all other packages stay what the application has installed. The console is built after this.
  external: (id) => /[\\/]dist[\\/]console\.cjs$/.test(id) || !(id.startsWith('.') || isAbsolute(id)),
});
const format = {
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  // Users read the comments of the declarations. Lines stay, for stack traces.
  comments: { legal: true, annotation: true, jsdoc: false },
};

const alone = await bundle.generate(format);
const index = readAt('index');
const broker = new Set([...readAt('engine'), ...readAt('server/serve/serve')]);
/** What is read by the command, its ports and the other ways in that need no Nest: none of them may read a file with Nest. */
const withoutNest = new Set(
  alone.output
    .filter(({ isEntry, isDynamicEntry }) => isEntry || isDynamicEntry)
    .map(filesOf)
    .filter((files) => !files.some((id) => /[\\/]nest[\\/](?!otel|tracing|retry)/.test(id)))
    .flat(),
);

/** The chunks, in the order in which they take files. All other files go where they are imported. */
const chunks = [
  // What Nest applications and brokers without Nest have in common.
  ['common', new Set([...index].filter((id) => withoutNest.has(id)))],
  ['nest', index],
  ['broker', broker],
  // What operators on streams need besides.
  ['streams', readAt('streams')],
  ['wire', 'wire'],
  ['redrive', 'redrive'],
];

const together = await bundle.write({
  ...format,
  dir: joined,
  // A file costs more than what is in it: what an application loads at its start is in few of them.
  codeSplitting: {
    // The sets above have what is used of each file; this option would take all that a file imports, used or not.
    includeDependenciesRecursively: false,
    groups: chunks.map(([name, files]) => ({ name, test: testOf(files) })),
  },
});
await bundle.close();
rmSync(join(dist, 'package.json'));

for (const entry of entries) {
  const [before, after] = [alone, together].map(({ output }) => exportsOf(output, `${entry}.js`));
  if (before !== after) throw new Error(`${entry} exports ${after}, and should export ${before}`);
}

function exportsOf(output, name) {
  return String(output.find(({ fileName }) => fileName === name)?.exports.toSorted());
}

/** @param files their names, or a room */
function testOf(files) {
  if (typeof files === 'string') return (id) => id.includes(join(sep, files, sep));
  return (id) => files.has(id);
}

/** @returns the files that run when the entry or file of this path is imported */
function readAt(path) {
  const first = alone.output.find(({ facadeModuleId }) => facadeModuleId?.endsWith(join(dist, `${path}.js`)));
  if (first === undefined) throw new Error(`neither an entry nor imported when it is needed: ${path}`);
  return new Set(filesOf(first));
}

/** The files of a chunk and of those that it imports: a bundle without chunks of ours joins what is imported together. */
function filesOf(first) {
  const chunksRead = new Set([first]);
  for (const { imports } of chunksRead) {
    for (const file of alone.output) if (imports.includes(file.fileName)) chunksRead.add(file);
  }
  return [...chunksRead].flatMap(({ moduleIds }) => moduleIds);
}

for (const file of filesIn(dist)) if (file.endsWith('.js')) rmSync(join(dist, file));
for (const file of filesIn(joined)) {
  mkdirSync(dirname(join(dist, file)), { recursive: true });
  renameSync(join(joined, file), join(dist, file));
  // Text of ASCII alone takes half the memory, and node need not decode it.
  // rolldown cannot write chunks as CommonJS.
  const code = commonJsOf(join(dist, file));
  writeFileSync(
    join(dist, file),
    code.replace(/[^\0-\x7f]/g, (unit) => `\\u${hex(unit)}`),
  );
}
rmSync(joined, { recursive: true });

const missing = entries.filter((entry) => !existsSync(join(dist, `${entry}.js`)));
if (missing.length > 0) throw new Error(`not joined: ${missing.join(', ')}`);

// Of the declarations stay those that an application's compiler can reach from a way in.
const reached = new Set();
for (const entry of entries) reach(`${entry}.d.ts`);
for (const file of filesIn(dist)) if (file.endsWith('.d.ts') && !reached.has(file)) rmSync(join(dist, file));

function commonJsOf(file) {
  const code = readFileSync(file, 'utf8').replaceAll('import.meta.dirname', '__dirname');
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023, esModuleInterop: true };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

function hex(unit) {
  return unit.charCodeAt(0).toString(16).padStart(4, '0');
}

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
