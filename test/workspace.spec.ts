import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

interface Project {
  readonly root: string;
  readonly sourceRoot: string;
  readonly entryFile: string;
  readonly compilerOptions: { readonly tsConfigPath: string };
}

// The top level of a Nest monorepo, as it was asked for.
it.each([
  'libs/dlx-broker',
  'apps/sample-orders',
  'apps/sample-retry',
  'test',
  'nest-cli.json',
  'package.json',
  'tsconfig.json',
])('the workspace has %s', (entry) => expect(existsSync(join(root, entry))).toBe(true));

it('nest-cli.json names the library and every application of Nest, with files that exist', () => {
  const { projects } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8')) as {
    readonly projects: Readonly<Record<string, Project>>;
  };
  const ofNest = readdirSync(join(root, 'apps')).filter((app) =>
    existsSync(join(root, 'apps', app, 'tsconfig.app.json')),
  );
  expect(Object.keys(projects).toSorted()).toEqual(['dlx-broker', ...ofNest].toSorted());
  for (const [name, { root: folder, sourceRoot, entryFile, compilerOptions }] of Object.entries(projects)) {
    expect(folder).toMatch(new RegExp(`/${name}$`));
    expect(existsSync(join(root, sourceRoot, `${entryFile}.ts`))).toBe(true);
    expect(existsSync(join(root, compilerOptions.tsConfigPath))).toBe(true);
  }
});
