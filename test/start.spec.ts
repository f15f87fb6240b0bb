import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const source = resolve(import.meta.dirname, '../libs/dlx-broker/src');
const compilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

const known = new Map<string, readonly string[]>();

/** What a file makes node read before it runs: no types, and nothing that it imports when it needs it. */
function importsOf(file: string): readonly string[] {
  const imports = known.get(file) ?? importsIn(file);
  known.set(file, imports);
  return imports;
}

function importsIn(file: string): readonly string[] {
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions });
  return ts.createSourceFile(file, outputText, ts.ScriptTarget.ES2023).statements.flatMap((statement) => {
    const from =
      ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) ? statement.moduleSpecifier : undefined;
    return from === undefined ? [] : [(from as ts.StringLiteral).text];
  });
}

/** Files and packages that a front door brings along. */
function reachedFrom(
  entry: string,
): Readonly<Record<'files' | 'packages', ReadonlySet<string>>> & { has(folder: string): boolean } {
  const files = [resolve(source, entry)];
  const packages = new Set<string>();
  for (const file of files) {
    for (const name of importsOf(file)) {
      if (!name.startsWith('.')) packages.add(name);
      else {
        const next = resolve(dirname(file), name.replace(/\.js$/, '.ts'));
        if (!files.includes(next)) files.push(next);
      }
    }
  }
  const names = files.map((file) => relative(source, file));
  return { files: new Set(names), packages, has: (folder) => names.some((name) => name.startsWith(`${folder}/`)) };
}

describe('an application that opens no port and keeps nothing on disk starts without', () => {
  const { files, packages, has } = reachedFrom('index.ts');

  it('what it does not need of this library', () => {
    for (const folder of ['nest/core', 'nest/streams', 'engine/broker', 'backends'])
      expect(has(folder), folder).toBe(true);
    for (const folder of [
      'amqp',
      'server/http',
      'server/api',
      'server/metrics',
      'server/serve',
      'store',
      'cli',
      'nest/testing',
      'nest/otel',
    ])
      expect(has(folder), folder).toBe(false);
  });

  it('the client of a RabbitMQ, which is read when such a broker is chosen', () => {
    const ofServer = [...files].filter((file) => file.startsWith('backends/rabbitmq/'));
    // What checks the options of rabbitmq(), when a module is written.
    expect(ofServer.toSorted()).toEqual(['backends/rabbitmq/address.ts', 'backends/rabbitmq/management-url.ts']);
    expect(packages).not.toContain('node:tls');
  });

  it('other packages than Nest and RxJS', () => {
    const others = [...packages].filter((name) => !/^(@nestjs\/|rxjs|reflect-metadata$|node:)/.test(name));
    expect(others).toEqual([]);
  });

  it('all of Nest’s own transports, which its front door brings along', () => {
    expect(packages).toContain('@nestjs/microservices/server/server.js');
    expect(packages).not.toContain('@nestjs/microservices');
  });
});

it('the engine starts without Nest and RxJS', () => {
  expect([...reachedFrom('engine.ts').packages].filter((name) => !name.startsWith('node:'))).toEqual([]);
});

it.each(['index.ts', 'engine.ts', 'server.ts', 'streams.ts', 'testing.ts', 'cli/main.ts'])(
  '%s starts without OpenTelemetry',
  (entry) => {
    const { packages, has } = reachedFrom(entry);
    expect([...packages].filter((name) => name.startsWith('@opentelemetry/'))).toEqual([]);
    expect(has('nest/otel')).toBe(false);
  },
);

it('tracing starts without Nest and RxJS', () => {
  const { packages } = reachedFrom('otel.ts');
  expect([...packages].filter((name) => /^(@nestjs\/|rxjs)/.test(name))).toEqual([]);
});

it('metrics of an application start without prom-client, and no other entry loads them at its start', () => {
  expect([...reachedFrom('metrics.ts').packages]).not.toContain('prom-client');
  for (const entry of ['index.ts', 'engine.ts', 'server.ts', 'streams.ts', 'testing.ts', 'cli/main.ts'])
    expect(reachedFrom(entry).has('server/metrics')).toBe(false);
});

it('streams of dead letters start without Nest', () => {
  const { packages } = reachedFrom('streams.ts');
  expect([...packages].filter((name) => name.startsWith('@nestjs/'))).toEqual([]);
  expect(packages).toContain('rxjs');
});
