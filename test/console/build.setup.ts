import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { missing } from './chromium.js';

/** Builds the pages before the first case, so that the browser never meets an old one. */
export default async function setup(): Promise<void> {
  if (missing !== undefined) return console.warn(`SKIPPED: the pages in a browser: ${missing}`);
  for (const page of ['console', 'playground']) {
    const root = fileURLToPath(new URL(`../../apps/${page}`, import.meta.url));
    await build({ root, configFile: `${root}/vite.config.ts`, logLevel: 'warn' });
  }
}
