import { describe, expect, it } from 'vitest';
import { read } from '../docs/pages.js';

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly typesVersions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly scripts: { readonly compile: string };
}

const { exports, typesVersions, scripts } = JSON.parse(read('libs/dlx-broker/package.json')) as Manifest;
const entries = Object.entries(exports).flatMap(([path, target]) =>
  typeof target === 'string' ? [] : [{ path, target, name: target.default.replace(/^\.\/dist\/|\.js$/g, '') }],
);

describe('every entry of the package', () => {
  it('has its declarations beside it', () => {
    for (const { target, name } of entries) expect(target.types).toBe(`./dist/${name}.d.ts`);
  });

  it('is found by TypeScript with moduleResolution node10, by typesVersions', () => {
    const others = entries.filter(({ path }) => path !== '.');
    const wanted = others.map(({ path, target }) => [path.slice(2), [target.types]]);
    expect(typesVersions['*']).toEqual(Object.fromEntries(wanted));
  });

  it('is made by the build', () => {
    const [, made = ''] = /bundle\.mjs dist (.*)$/.exec(scripts.compile) ?? [];
    expect(made.split(' ')).toEqual(expect.arrayContaining(entries.map(({ name }) => name)));
  });

  it('is one of the sources for the type check and for tests', () => {
    const tsconfig = read('tsconfig.json');
    for (const { path, name } of entries) {
      expect(tsconfig).toContain(`"${path.replace('.', 'dlx-broker')}": ["./libs/dlx-broker/src/${name}.ts"]`);
    }
  });
});
