// Builds an application of apps/ in seconds, to run it here: `node scripts/quick-build.mjs sample-retry` writes dist/quick/sample-retry/main.js. Types are
// removed and not checked. `npm run build` builds what is published.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { rolldown } = await installed('rolldown');
const { build } = await installed('vite');
const [app] = process.argv.slice(2);
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quick = join(root, 'dist/quick');
/** Node finds this dlx-broker before the one of the workspace, which may not be built. */
const library = join(quick, 'node_modules/dlx-broker');

console.log(`Building ${app}, the library and the console, some seconds:`);
const begun = performance.now();
await step('the library', buildLibrary);
await step(app, () => compile({ main: join(root, `apps/${app}/src/main.ts`) }, join(quick, app)));
await step('the console', buildConsole);
console.log();

/** Imports a package, or ends with the remedy. */
function installed(name) {
  return import(name).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error(`The package '${name}' is missing: run 'npm ci' first.`);
    process.exit(1);
  });
}

async function step(name, run) {
  await run();
  console.log(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(5)} s  ${name}: built`);
}

async function buildLibrary() {
  const source = join(root, 'libs/dlx-broker');
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const { exports } = manifest;
  const files = Object.values(exports).flatMap((target) => target.default ?? []);
  const entries = files.map((file) => file.replace(/^\.\/dist\/|\.js$/g, ''));
  const input = Object.fromEntries(entries.map((entry) => [entry, join(source, 'src', `${entry}.ts`)]));
  await compile(input, join(library, 'dist'));
  // What is published is CommonJS.
  writeFileSync(join(library, 'package.json'), JSON.stringify({ ...manifest, type: 'module' }));
}

/** Removes the types of all files that are reached, and joins the files. Packages stay where they are installed. */
async function compile(input, dir) {
  const bundle = await rolldown({
    input,
    platform: 'node',
    tsconfig: join(root, 'tsconfig.json'),
    // Helpers of decorators come along.
    external: (id) =>
      /[\\/]dist[\\/]console\.cjs$/.test(id) ||
      !(id.startsWith('.') || isAbsolute(id) || id.startsWith('@oxc-project/runtime/')),
  });
  await bundle.write({ dir, format: 'esm', chunkFileNames: 'chunks/[name].js', sourcemap: true });
  await bundle.close();
}

async function buildConsole() {
  const folder = join(root, 'apps/console');
  const outDir = join(library, 'dist/console');
  await build({ root: folder, configFile: join(folder, 'vite.config.ts'), logLevel: 'warn', build: { outDir } });
}
