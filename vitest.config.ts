import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The aliases of tsconfig.json: tests meet the library's sources, never an old build.
  resolve: { tsconfigPaths: true },
  // Nest's decorators and its injection by type, in libs and in specs.
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    include: ['libs/**/*.spec.ts', 'test/**/*.spec.ts', 'apps/**/*.spec.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    // Nobody sleeps in a test; what takes longer than this hangs. A real RabbitMQ may need its time to begin.
    testTimeout: 10_000,
    hookTimeout: 30_000,
    // A promise nobody waits for is a failure, not a line in the log.
    dangerouslyIgnoreUnhandledErrors: false,
    passWithNoTests: false,
  },
});
