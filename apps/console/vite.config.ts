import { defineConfig } from 'vite';
import { asModule } from './as-module.ts';
import { notices } from './notices.ts';

/** Where `npm run dev` finds the management API: a broker of `npm run demo:console`, for example. */
const api = process.env['DLX_API'] ?? 'http://127.0.0.1:15672';

export default defineConfig({
  // Relative addresses: the console also works behind a proxy that adds a prefix to the path.
  base: './',
  plugins: [notices('third-party-notices.txt'), asModule('third-party-notices.txt')],
  build: {
    outDir: '../../libs/dlx-broker/dist/console',
    emptyOutDir: true,
    // The server serves files by their path below outDir: index.html at `/`, all others below `/console/`.
    assetsDir: 'console',
    // No data: addresses: the content security policy allows them for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': { target: api, changeOrigin: true, headers: { origin: api } } } },
});
