// Writes the bill of materials of the package and of the packages that it depends on, as CycloneDX:
// `npm run sbom --prefix scripts/release -- FILE`. The peers (Nest, RxJS) are the application's. The lock file of the workspace is of no use:
// npm leaves out packages that development packages need too.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const target = resolve(process.argv[2] ?? 'dlx-broker.cdx.json');
const { name, version, license, description, dependencies } = JSON.parse(
  readFileSync('libs/dlx-broker/package.json', 'utf8'),
);
const folder = mkdtempSync(join(tmpdir(), 'dlx-broker-sbom-'));
const npm = (...parts) =>
  execFileSync('npm', [...parts, '--package-lock-only', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });

try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version, license, description, dependencies }));
  npm('install', '--ignore-scripts', '--no-audit');
  const bill = JSON.parse(npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=library'));
  // npm takes the name from the folder.
  bill.metadata.component.name = name;
  const missing = Object.keys(dependencies).filter(
    (one) => !bill.components.some((component) => component.name === one),
  );
  if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`);
  writeFileSync(target, `${JSON.stringify(bill, undefined, 2)}\n`);
  console.log(`${target}: ${bill.components.map((one) => `${one.name} ${one.version}`).join(', ')}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
