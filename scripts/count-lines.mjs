// Counts the source of the library without its specs, for docs/internals/size.md: `node scripts/count-lines.mjs [FOLDER] [--write]`.
// FOLDER is a checkout (default: this one); --write writes the table of this one to the page.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const args = process.argv.slice(2);
const own = join(import.meta.dirname, '..');
const root = args.find((arg) => !arg.startsWith('--')) ?? own;

/** Paths in the source: what works with a server in place of the embedded broker, and the parts of the HTTP API that were made for the console. */
const forServers =
  /^(backend\/rabbitmq|cli\/(move|definitions)|nest\/packets)\/|^nest\/brokers\/rabbitmq\.|^host\/http-call\.|^topology\/(cluster-topology|quorum-form)\./;
const forConsole = /^management\/(console|remote|dlx\/(edit|export|overview|queues))\//;

/** The files of a folder as { path, lines, code, isGenerated }; code is lines without comments and blank lines. */
function filesOf(folder, ending) {
  const paths = readdirSync(join(root, folder), { recursive: true }).map((path) => path.replaceAll('\\', '/'));
  return paths
    .filter((path) => ending.test(path) && !/\.spec\.tsx?$/.test(path))
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
const isOf = (part) => source.filter(({ path }) => part.test(path));
const rest = source.filter(({ path }) => !forServers.test(path) && !forConsole.test(path));
const lengths = source.map(({ lines }) => lines).sort((one, other) => one - other);
const at = (share) => number(lengths[Math.floor(lengths.length * share)]);

const table = `| source without specs | files | lines | lines of code |
| --- | --- | --- | --- |
${row('the library', source)}
${row('of these, for servers', isOf(forServers))}
${row('of these, for the console', isOf(forConsole))}
${row('the rest', rest)}
${row("the console's page in the browser, `apps/console/src`", filesOf('apps/console/src', /\.tsx?$/))}

Of the library, a file has ${at(0.5)} lines in the median, and nine of ten have at most ${at(0.9)}. The largest file has ${largest(source.filter((file) => !file.isGenerated))},
the largest generated one ${largest(source.filter((file) => file.isGenerated))}.`;

console.log(table);
if (args.includes('--write')) {
  const page = join(own, 'docs/internals/size.md');
  const [before, , after] = readFileSync(page, 'utf8').split(/<!-- \/?node scripts\/count-lines\.mjs -->/);
  const marker = 'node scripts/count-lines.mjs';
  writeFileSync(page, `${before}<!-- ${marker} -->\n\n${table}\n\n<!-- /${marker} -->${after}`);
}
