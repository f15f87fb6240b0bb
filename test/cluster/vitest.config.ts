import { defineConfig } from 'vitest/config';

/** `npm run test:cluster`: minutes long, and on ports of its own, so that no other test runs it. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    include: ['test/cluster/*.run.ts'],
    fileParallelism: false,
    disableConsoleIntercept: true,
    testTimeout: 60_000,
  },
});
