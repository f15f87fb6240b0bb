import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { lintOverrides, walkRows } from './rooms.mjs';

// Writes the table of rooms into the lint rules and the walk. With --check it writes nothing, and fails at a difference.

const isCheck = process.argv.includes('--check');
const options = { printWidth: 120, singleQuote: true };

/** The overrides about imports of the library come from the table; all others stay. */
function lintRules(text) {
  const config = JSON.parse(text);
  const isWall = ({ files, rules }) =>
    'no-restricted-imports' in rules && files.every((path) => path.startsWith('libs/dlx-broker/src/'));
  const others = config.overrides.filter((override) => !isWall(override));
  return JSON.stringify({ ...config, overrides: [...lintOverrides(), ...others] }, null, 2);
}

/** The table stands between two comments. */
function walk(text) {
  const table = [['room', 'its one job', 'imports'], ['---', '---', '---'], ...walkRows()];
  const written = table.map((row) => `| ${row.join(' | ')} |`).join('\n');
  return text.replace(/(<!-- rooms -->\n)[^]*?(\n<!-- \/rooms -->)/, `$1\n${written}\n$2`);
}

let differs = false;
for (const [path, parser, write] of [
  ['.oxlintrc.json', 'json', lintRules],
  ['docs/walk.md', 'markdown', walk],
]) {
  const before = readFileSync(path, 'utf8');
  const after = await format(write(before), { ...options, parser });
  if (after === before) continue;
  if (isCheck) {
    console.error(`${path} is not what scripts/rooms.mjs says: run "npm run rooms"`);
    differs = true;
  } else writeFileSync(path, after);
}
process.exitCode = differs ? 1 : 0;
