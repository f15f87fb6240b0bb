import { existsSync } from 'node:fs';

/** Where Debian, other Linuxes and macOS have the browser. `CHROMIUM` names another place. */
const places = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path of a Chromium, or undefined if this machine has none. */
export const chromiumPath = places.find((place) => place !== undefined && existsSync(place));

/** Why the cases of the console cannot run here. In CI a missing browser is a failure, not a skip. */
export const missing =
  chromiumPath === undefined && process.env['CI'] === undefined
    ? 'no Chromium was found; install it, or name it in CHROMIUM'
    : undefined;
