import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { init } from './index.js';

const moduleText = `import { Module } from '@nestjs/common';

@Module({
  imports: [],
  controllers: [],
})
export class AppModule {}
`;
const mainText = `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(3000);
}
bootstrap();
`;
const dependencies = { '@nestjs/core': '^12.0.0', '@nestjs/microservices': '^12.0.0', 'dlx-broker': '1.0.0' };
const devDependencies = { '@nestjs/testing': '^12.0.0', vitest: '^4.0.0' };

describe('init', () => {
  let folder: string;
  let lines: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'init-'));
    lines = [];
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    put('package.json', JSON.stringify({ dependencies, devDependencies }));
    put('src/app.module.ts', moduleText);
    put('src/main.ts', mainText);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const run = (flags: Partial<Parameters<typeof init>[1]> = {}): number =>
    init(folder, { install: true, ...flags }, '1.0.0', (line) => lines.push(line));

  it('adds the module, a handler, its test and the hooks, and says so', () => {
    expect(run()).toBe(0);
    expect(read('src/app.module.ts')).toBe(`import { Module } from '@nestjs/common';
import { DlxBrokerModule } from 'dlx-broker';
import { OrdersHandler } from './orders/orders.handler';

@Module({
  providers: [OrdersHandler],
  imports: [DlxBrokerModule.forRoot()],
  controllers: [],
})
export class AppModule {}
`);
    expect(read('src/main.ts')).toContain('create(AppModule);\n  app.enableShutdownHooks();\n  await');
    expect(read('src/orders/orders.handler.ts')).toContain('export class OrdersHandler');
    expect(read('src/orders/orders.handler.spec.ts')).toContain("from './orders.handler'");
    expect(lines.filter((line) => /^(creates|changes)/.test(line))).toHaveLength(4);
  });

  it('changes nothing a second time', () => {
    run();
    const before = [read('src/app.module.ts'), read('src/main.ts')];
    writeFileSync(join(folder, 'src/orders/orders.handler.ts'), 'mine');
    lines = [];
    run();
    expect([read('src/app.module.ts'), read('src/main.ts')]).toEqual(before);
    expect(read('src/orders/orders.handler.ts')).toBe('mine');
    expect(lines.filter((line) => /^(creates|changes)/.test(line))).toEqual([]);
  });

  it('writes nothing in a dry run, and names the packages', () => {
    put('package.json', JSON.stringify({ dependencies: { '@nestjs/core': '^12.0.0' }, devDependencies }));
    put('pnpm-lock.yaml', '');
    expect(run({ dryRun: true })).toBe(0);
    expect(read('src/app.module.ts')).toBe(moduleText);
    expect(() => read('src/orders/orders.handler.ts')).toThrow('ENOENT');
    expect(lines).toContain('runs: pnpm add dlx-broker@1.0.0 @nestjs/microservices@12');
  });

  it.each([
    ['npm', 'package-lock.json', 'npm install --save-dev @nestjs/testing@12'],
    ['pnpm', 'pnpm-lock.yaml', 'pnpm add --save-dev @nestjs/testing@12'],
    ['pnpm', 'pnpm-workspace.yaml', 'pnpm add --workspace-root --save-dev @nestjs/testing@12'],
    ['yarn', 'yarn.lock', 'yarn add --dev @nestjs/testing@12'],
    ['bun', 'bun.lock', 'bun add --dev @nestjs/testing@12'],
    ['bun', 'bun.lockb', 'bun add --dev @nestjs/testing@12'],
  ])('installs the package for tests with %s as a dependency of development', (_, lock, command) => {
    put('package.json', JSON.stringify({ dependencies, devDependencies: { vitest: '^4.0.0' } }));
    put(lock, '');
    if (lock === 'pnpm-workspace.yaml') put('pnpm-lock.yaml', '');
    run({ dryRun: true });
    expect(lines.filter((line) => line.startsWith('runs'))).toEqual([`runs: ${command}`]);
  });

  it('installs with the manager of the workspace, whose lock file is above', () => {
    const inner = join(folder, 'packages/shop');
    put('yarn.lock', '');
    put('packages/shop/package.json', JSON.stringify({ dependencies, devDependencies: { vitest: '^4.0.0' } }));
    put('packages/shop/src/app.module.ts', moduleText);
    init(inner, { install: true, dryRun: true }, '1.0.0', (line) => lines.push(line));
    expect(lines).toContain('runs: yarn add --dev @nestjs/testing@12');
  });

  it('names the scripts as Bun runs them', () => {
    put('bun.lock', '');
    run();
    expect(lines.filter((line) => line.startsWith('  '))).toEqual([
      expect.stringMatching(/^ {2}bun run test /),
      expect.stringMatching(/^ {2}bun run start /),
    ]);
  });

  it.each(['src/app.module.ts', 'src/main.ts'])('keeps the line endings of %s', (file) => {
    put(file, read(file).replaceAll('\n', '\r\n'));
    run();
    expect(read(file)).toContain(file.endsWith('main.ts') ? 'enableShutdownHooks();\r\n' : "'dlx-broker';\r\n");
    expect(read(file)).not.toMatch(/[^\r]\n/);
  });

  it.each([
    [
      'lists on one line',
      'imports: [A, B], providers: [C]',
      'imports: [A, B, DlxBrokerModule.forRoot()], providers: [C, OrdersHandler]',
    ],
    [
      'a comma at the end',
      'imports: [A,], providers: []',
      'imports: [A, DlxBrokerModule.forRoot()], providers: [OrdersHandler]',
    ],
    [
      'lists of several lines',
      'imports: [\n    A,\n    B.forRoot({ a: [1] }),\n  ], providers: [\n    C\n  ]',
      'imports: [\n    A,\n    B.forRoot({ a: [1] }),\n    DlxBrokerModule.forRoot(),\n  ], providers: [\n    C,\n    OrdersHandler\n  ]',
    ],
  ])('adds to %s', (_, before, after) => {
    const text = (options: string): string => `@Module({ ${options} })\nexport class AppModule {}\n`;
    put('src/app.module.ts', text(before));
    run();
    expect(read('src/app.module.ts')).toContain(text(after));
  });

  it('makes options where the module has none, in the style of the file', () => {
    put('src/app.module.ts', `import { Module } from "@nestjs/common"\n\n@Module({})\nexport class AppModule {}\n`);
    run();
    expect(read('src/app.module.ts')).toBe(
      `import { Module } from "@nestjs/common"\nimport { DlxBrokerModule } from "dlx-broker"\n` +
        `import { OrdersHandler } from "./orders/orders.handler"\n\n` +
        `@Module({\n  imports: [DlxBrokerModule.forRoot()],\n  providers: [OrdersHandler],\n})\nexport class AppModule {}\n`,
    );
  });

  it('writes endings of ES modules, and the way to a module in a folder', () => {
    put('package.json', JSON.stringify({ type: 'module', dependencies, devDependencies }));
    put('src/shop/shop.module.ts', moduleText);
    run({ module: 'src/shop/shop.module.ts' });
    expect(read('src/shop/shop.module.ts')).toContain("from '../orders/orders.handler.js'");
    expect(read('src/orders/orders.handler.spec.ts')).toContain("from './orders.handler.js'");
  });

  it('changes nothing of package.json: jest reads the package as it is', () => {
    const jest = { rootDir: 'src', transform: { '^.+\\.(t|j)s$': 'ts-jest' } };
    const manifest = JSON.stringify({
      dependencies,
      devDependencies: { '@nestjs/testing': '^11.0.0', jest: '^30.0.0' },
      jest,
    });
    put('package.json', manifest);
    run();
    expect(read('package.json')).toBe(manifest);
  });

  it.each([
    ['no application', { 'package.json': '{}' }, 'there is no Nest application in'],
    ['a package.json that is no JSON', { 'package.json': '{,' }, 'package.json is no JSON'],
    ['a module that is elsewhere', {}, 'name the file of the root module with --module FILE'],
    [
      'a list that is computed',
      { 'src/app.module.ts': '@Module({ imports: all })\nexport class A {}' },
      'Nothing was changed',
    ],
    ['a file without a module', { 'src/app.module.ts': 'export const a = 1;' }, 'Nothing was changed'],
  ])('refuses %s', (_, files, text) => {
    if (Object.keys(files).length === 0) rmSync(join(folder, 'src/app.module.ts'));
    for (const [file, content] of Object.entries(files)) put(file, content);
    expect(() => run()).toThrow(text);
    expect(() => read('src/orders/orders.handler.ts')).toThrow('ENOENT');
    expect(read('src/main.ts')).toBe(mainText);
  });

  it('says what to do where it cannot change main.ts', () => {
    put('src/main.ts', `export { start } from './start.js';\n`);
    run();
    expect(lines).toContainEqual(expect.stringContaining('keeps  src/main.ts: call enableShutdownHooks()'));
  });

  it.each([
    ['src/shop/shop.module.ts', '../orders/orders.handler'],
    ['./src/shop/shop.module.ts', '../orders/orders.handler'],
  ])('imports the handler into %s from where it is', (module, path) => {
    put(module, moduleText);
    run({ module });
    expect(read(module)).toContain(`from '${path}'`);
    expect(read('src/orders/orders.handler.ts')).toContain('OrdersHandler');
  });

  it.each([
    ['apps/shop/src/app/app.module.ts', 'apps/shop/src', '../orders/orders.handler'],
    ['apps/shop/src/app.module.ts', 'apps/shop/src', './orders/orders.handler'],
    ['apps/shop/shop.module.ts', 'apps/shop', './orders/orders.handler'],
    ['shop.module.ts', '.', './orders/orders.handler'],
  ])('puts the handler of %s, an application of a workspace, into its sources', (module, root, path) => {
    put('nest-cli.json', JSON.stringify({ monorepo: true, sourceRoot: 'apps/other/src' }));
    put(module, moduleText);
    put(`${root}/main.ts`, mainText);
    run({ module });
    expect(read(module)).toContain(`from '${path}'`);
    expect(read(`${root}/orders/orders.handler.spec.ts`)).toContain('OrdersHandler');
    expect(read(`${root}/main.ts`)).toContain('enableShutdownHooks');
    expect(read('src/main.ts')).toBe(mainText);
  });

  describe('writes nothing outside of the folder', () => {
    let outside: string;
    beforeEach(() => {
      outside = mkdtempSync(join(tmpdir(), 'outside-'));
      writeFileSync(join(outside, 'app.module.ts'), moduleText);
      writeFileSync(join(outside, 'main.ts'), mainText);
    });
    afterEach(() => rmSync(outside, { recursive: true }));

    const refuses = (flags: Parameters<typeof run>[0] = {}): void => {
      expect(() => run(flags)).toThrow(/outside of .*Nothing was changed/);
      expect(readdirSync(outside).sort()).toEqual(['app.module.ts', 'main.ts']);
      expect(readFileSync(join(outside, 'app.module.ts'), 'utf8')).toBe(moduleText);
      expect(readFileSync(join(outside, 'main.ts'), 'utf8')).toBe(mainText);
      expect(read('src/app.module.ts')).toBe(moduleText);
    };

    it.each(['up', 'absolute'])('to which nest-cli.json leads %s', (way) => {
      const sourceRoot = way === 'up' ? `../${basename(outside)}` : `../../../../../../../..${outside}`;
      put('nest-cli.json', JSON.stringify({ sourceRoot }));
      refuses();
    });

    it('to which --module leads', () => refuses({ module: `../${basename(outside)}/app.module.ts` }));

    it.each(['src/orders', 'src/main.ts', 'src/link'])('to which the link %s leads', (link) => {
      rmSync(join(folder, link), { force: true });
      symlinkSync(link === 'src/main.ts' ? join(outside, 'main.ts') : outside, join(folder, link));
      if (link === 'src/link') {
        put('nest-cli.json', JSON.stringify({ sourceRoot: 'src/link' }));
      }
      refuses();
    });

    it('through a link to a file that is not there yet', () => {
      mkdirSync(join(folder, 'src/orders'));
      symlinkSync(join(outside, 'new.ts'), join(folder, 'src/orders/orders.handler.ts'));
      refuses();
    });
  });

  it.each([
    ['a source root that is no text', { 'nest-cli.json': '{"sourceRoot":{"toString":1}}' }, 'sourceRoot'],
    ['a list as nest-cli.json', { 'nest-cli.json': 'null' }, undefined],
    ['dependencies that are none', { 'package.json': '{"dependencies":null}' }, 'there is no Nest application in'],
  ])('understands %s', (_, files, text) => {
    for (const [file, content] of Object.entries(files)) put(file, content);
    if (text === undefined) expect(run()).toBe(0);
    else expect(() => run()).toThrow(text);
  });

  describe('where the application has TypeScript 7, which has no API', () => {
    const found = resolve('node_modules/typescript');
    const install = (name: string, version: string, at = 'node_modules'): void =>
      put(`${at}/${name}/package.json`, JSON.stringify({ name, version, main: 'index.js' }));
    beforeEach(() => {
      rmSync(join(folder, 'node_modules'));
      install('@nestjs/core', '12.0.0');
      install('typescript', '7.0.2');
      put('node_modules/typescript/index.js', `exports.version = '7.0.2';`);
    });

    it.each(['npm', 'pnpm'])('reads the sources with the one of @nestjs/cli, installed by %s', (manager) => {
      const at = manager === 'npm' ? 'node_modules' : 'node_modules/.pnpm/@nestjs+cli@12.0.0/node_modules';
      const beside = manager === 'npm' ? `${at}/@nestjs/cli/node_modules` : at;
      install('@nestjs/cli', '12.0.0', at);
      mkdirSync(join(folder, beside), { recursive: true });
      symlinkSync(found, join(folder, beside, 'typescript'));
      if (manager === 'pnpm') {
        mkdirSync(join(folder, 'node_modules/@nestjs'), { recursive: true });
        symlinkSync(join(folder, at, '@nestjs/cli'), join(folder, 'node_modules/@nestjs/cli'));
      }
      expect(run()).toBe(0);
      expect(read('src/app.module.ts')).toContain('imports: [DlxBrokerModule.forRoot()]');
    });

    it.each([
      [
        'no @nestjs/cli',
        undefined,
        "@nestjs/cli, which has one, is not installed: run 'pnpm add --save-dev @nestjs/cli@12' first.",
      ],
      ['one with the same', '13.0.0', "@nestjs/cli has no other: run 'pnpm add --save-dev typescript@6' first."],
    ])('says what to install where there is %s', (_, cli, remedy) => {
      if (cli !== undefined) install('@nestjs/cli', cli);
      put('pnpm-lock.yaml', '');
      expect(() => run()).toThrow(
        `needed to read the sources. TypeScript 7.0.2 of the application cannot do this, and ${remedy}`,
      );
      expect(read('src/app.module.ts')).toBe(moduleText);
    });

    it('says that none is installed', () => {
      rmSync(join(folder, 'node_modules/typescript'), { recursive: true });
      expect(() => run()).toThrow(
        "TypeScript 5 or 6 is needed to read the sources, and not installed: run 'npm install' first.",
      );
    });
  });

  it('changes nothing where a folder has the name of its file, or a file that of its folder', () => {
    expect(() => run({ module: 'src' })).toThrow('there is no file src in');
    mkdirSync(join(folder, 'src/orders/orders.handler.ts'), { recursive: true });
    expect(() => run()).toThrow(/orders\.handler\.ts cannot be written: EISDIR/);
    rmSync(join(folder, 'src/orders'), { recursive: true });
    put('src/orders', '');
    expect(() => run()).toThrow(/orders\.handler\.ts cannot be written: EEXIST/);
    expect([read('src/app.module.ts'), read('src/main.ts')]).toEqual([moduleText, mainText]);
  });
});
