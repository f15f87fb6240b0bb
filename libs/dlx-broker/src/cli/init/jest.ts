import type { Jest } from './application.js';

/** Packages of ES modules that jest has to compile, because it loads CommonJS only. */
const packages = 'dlx-broker|hono|@hono';

/**
 * Makes jest with ts-jest compile the packages of ES modules.
 * @returns the new section of package.json; undefined if it does so, or if the application compiles by other means
 */
export function withEsModules(jest: Jest | undefined): Jest | undefined {
  const transform = jest?.transform ?? {};
  if (jest === undefined || !Object.values(transform).includes('ts-jest')) return undefined;
  if (JSON.stringify(jest).includes('dlx-broker')) return undefined;
  const settings = { isolatedModules: true, tsconfig: { allowJs: true, module: 'commonjs', target: 'es2022' } };
  return {
    ...jest,
    // The first pattern that fits is taken.
    transform: { [`node_modules/(${packages})/.+\\.js$`]: ['ts-jest', settings], ...transform },
    // pnpm keeps packages in a folder below node_modules/.pnpm/.
    transformIgnorePatterns: [`node_modules/(?!(\\.pnpm|${packages})/)`],
  };
}
