export type { DlxAlert, WatchRule } from './alert.js';
export type { WatchOptions } from './options.js';
export { Watches } from './watches.js';
