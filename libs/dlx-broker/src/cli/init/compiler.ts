import { createRequire } from 'node:module';
import type typescript from 'typescript';
import { Refusal } from '../refusal.js';

/**
 * The TypeScript that reads the sources of an application: the application's own, or the one of @nestjs/cli. TypeScript 7 has no API for it
 * (decision 295).
 * @param require looks for packages from the folder of the application
 * @param adds the command that adds a package to the development of the application
 * @param nest the major version of Nest
 * @throws {Refusal} where no TypeScript with this API is installed
 */
export function compilerOf(require: NodeJS.Require, adds: string, nest: number): typeof typescript {
  const cli = tried(() => createRequire(require.resolve('@nestjs/cli/package.json')));
  for (const from of [require, cli]) {
    const ts = tried(() => from?.('typescript') as typeof typescript | undefined);
    if (typeof ts?.createSourceFile === 'function') return ts;
  }
  const own = tried(() => (require('typescript/package.json') as { readonly version: string }).version);
  throw new Refusal(
    own === undefined
      ? `TypeScript 5 or 6 is needed to read the sources, and not installed: run 'npm install' first.`
      : `TypeScript 5 or 6 is needed to read the sources. TypeScript ${own} of the application cannot do this, and ${
          cli === undefined
            ? `@nestjs/cli, which has one, is not installed: run '${adds} @nestjs/cli@${nest}' first.`
            : `@nestjs/cli has no other: run '${adds} typescript@6' first.`
        }`,
  );
}

function tried<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
