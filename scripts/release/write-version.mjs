// After changesets has set the version of the package: writes it to the source that shows it, and moves what changesets wrote
// about it into the one changelog, which is at the top. `node scripts/release/write-version.mjs`.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('libs/dlx-broker/package.json', 'utf8'));

const source = 'libs/dlx-broker/src/engine/broker/profile.ts';
const product = readFileSync(source, 'utf8').replace(/(name: 'dlx-broker', version: ')[^']*/, `$1${version}`);
if (!product.includes(`version: '${version}'`)) throw new Error(`${source} has no place for a version`);
writeFileSync(source, product);

const [collected, changelog] = ['libs/dlx-broker/CHANGELOG.md', 'CHANGELOG.md'];
if (existsSync(collected)) {
  const [, section = ''] = readFileSync(collected, 'utf8').split(`\n## ${version}\n`);
  const all = readFileSync(changelog, 'utf8');
  const first = all.indexOf('\n## ');
  if (section === '' || first < 0)
    throw new Error(`${collected} has no section for ${version}, or ${changelog} has none`);
  const today = new Date().toISOString().slice(0, 10);
  const entry = `\n## [${version}] - ${today}\n\n${section.split('\n## ')[0].trim()}\n`;
  writeFileSync(changelog, all.slice(0, first) + entry + all.slice(first));
  rmSync(collected);
}
console.log(`dlx-broker ${version}`);
