// Counts the source of the library, for docs/internals/size.md: `node scripts/count-lines.mjs [FOLDER] [--write]`.
// FOLDER is a checkout (default: this one); --write writes the table of this one to the page.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const args = process.argv.slice(2);
const own = join(import.meta.dirname, '..');
const root = args.find((arg) => !arg.startsWith('--')) ?? own;

/** The files of a folder as { path, lines, code, isGenerated }; code is lines without comments and blank lines. */
function filesOf(folder, ending, without = /\.spec\.tsx?$/) {
  const paths = readdirSync(join(root, folder), { recursive: true }).map((path) => path.replaceAll('\\', '/'));
  return paths
    .filter((path) => ending.test(path) && !without.test(path) && !path.includes('node_modules'))
    .map((path) => {
      const text = readFileSync(join(root, folder, path), 'utf8');
      const lines = text.split('\n').slice(0, -1);
      const code = lines.filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line)).length;
      return { path, lines: lines.length, code, isGenerated: text.startsWith('// Generated') };
    });
}

const sum = (files, key) => files.reduce((total, file) => total + file[key], 0);
const number = (value) => value.toLocaleString('en-US');
const row = (name, files) =>
  `| ${name} | ${[files.length, sum(files, 'lines'), sum(files, 'code')].map(number).join(' | ')} |`;
const largest = (files) => number(Math.max(...files.map(({ lines }) => lines)));

const source = filesOf('libs/dlx-broker/src', /\.ts$/);
const wings = [
  ...new Set(source.filter(({ path }) => path.includes('/')).map(({ path }) => path.split('/')[0])),
].sort();
const isOf = (folder) => source.filter(({ path, isGenerated }) => !isGenerated && path.startsWith(`${folder}/`));
const written = source.filter(({ isGenerated }) => !isGenerated);
const tests = [...filesOf('test', /\.ts$/, /$^/), ...filesOf('libs/dlx-broker/src', /\.spec\.ts$/, /$^/)];
const lengths = source.map(({ lines }) => lines).sort((one, other) => one - other);
const at = (share) => number(lengths[Math.floor(lengths.length * share)]);

const table = `| source without specs | files | lines | lines of code |
| --- | --- | --- | --- |
${row('the library, without generated code', written)}
${wings.map((wing) => row(`\`${wing}/\``, isOf(wing))).join('\n')}
${row('`nest/core/`', isOf('nest/core'))}
${row("the console's page in the browser, `apps/console/src`", filesOf('apps/console/src', /\.tsx?$/))}
${row('the playground, with its lessons, `apps/playground/src`', filesOf('apps/playground/src', /\.tsx?$/))}
${row('tests: specs, and `test/`', tests)}

Of the library, a file has ${at(0.5)} lines in the median, and nine of ten have at most ${at(0.9)}. The largest file has ${largest(source.filter((file) => !file.isGenerated))},
the largest generated one ${largest(source.filter((file) => file.isGenerated))}.`;

console.log(table);
if (args.includes('--write')) {
  const page = join(own, 'docs/internals/size.md');
  const [before, , after] = readFileSync(page, 'utf8').split(/<!-- \/?node scripts\/count-lines\.mjs -->/);
  const marker = 'node scripts/count-lines.mjs';
  writeFileSync(page, `${before}<!-- ${marker} -->\n\n${table}\n\n<!-- /${marker} -->${after}`);
}
