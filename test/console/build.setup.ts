import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { missing } from './chromium.js';

/** Builds the console before its first case, so that the browser never meets an old one. */
export default async function setup(): Promise<void> {
  if (missing !== undefined) return console.warn(`SKIPPED: the console in a browser: ${missing}`);
  const root = fileURLToPath(new URL('../../apps/console', import.meta.url));
  await build({ root, configFile: `${root}/vite.config.ts`, logLevel: 'warn' });
}
