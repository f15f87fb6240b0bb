// Says what keeps this commit from being published: `npm run check --prefix scripts/release`, after a build.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('libs/dlx-broker/package.json', 'utf8'));
const { version } = manifest;

const checks = [
  [
    typeof manifest.repository?.url === 'string',
    "libs/dlx-broker/package.json has no 'repository': npm refuses a provenance statement without it. Add the address of " +
      "the repository that CI publishes from, and 'homepage' and 'bugs' beside it.",
  ],
  [
    readFileSync('libs/dlx-broker/src/engine/broker/profile.ts', 'utf8').includes(`version: '${version}'`),
    "profile.ts has another version than package.json: run 'npm run set-version --prefix scripts/release'.",
  ],
  [
    new RegExp(`^## \\[?${version.replaceAll('.', '\\.')}(?![\\w.-])`, 'm').test(readFileSync('CHANGELOG.md', 'utf8')),
    `CHANGELOG.md has no section for ${version}: run 'npm run set-version --prefix scripts/release'.`,
  ],
  [
    (manifest.publishConfig.tag ?? 'latest') === (version.includes('-') ? 'next' : 'latest'),
    `publishConfig.tag of version ${version} should be ${version.includes('-') ? "'next'" : "'latest'"}.`,
  ],
  [
    readdirSync('.changeset').every((file) => !file.endsWith('.md') || file === 'README.md'),
    "there are changes without a version: run 'npm run set-version --prefix scripts/release'.",
  ],
  [existsSync('libs/dlx-broker/dist/index.js'), "there is no build: run 'npm run build'."],
  [
    execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }) === '',
    'there are changes that are not committed.',
  ],
];

const faults = checks.filter(([good]) => !good);
for (const [, text] of faults) console.error(`- ${text}`);
if (faults.length > 0) process.exitCode = 1;
else console.log(`dlx-broker ${version} can be published`);
