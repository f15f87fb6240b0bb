import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * The cases of applications again, on Nest 11: all packages of Nest, and RxJS, come from this folder, for the library's sources as
 * well. The nightly script names the folder of another version.
 */
const packages = process.env['NEST_PACKAGES'] ?? fileURLToPath(new URL('node_modules/', import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: {
    tsconfigPaths: true,
    alias: [{ find: /^(@nestjs\/[^/]+|rxjs|reflect-metadata)(\/.*)?$/, replacement: `${packages}$1$2` }],
  },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    name: 'on Nest 11',
    include: ['test/e2e/**/*.spec.ts', 'libs/dlx-broker/src/{nest,testing}/**/*.spec.ts', 'test/nest-11/*.spec.ts'],
    // The heap does not depend on Nest, and is measured in a process of its own.
    exclude: ['**/node_modules/**', 'test/e2e/heap.spec.ts', '**/backpressure.spec.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 8_000 } },
    passWithNoTests: false,
    isolate: false,
    // Files share a process and Nest's logger: an application of another file that ends late may write a line into a case of this one.
    retry: 2,
    maxWorkers: availableParallelism(),
  },
});
