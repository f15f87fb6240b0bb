import { accessScripts } from './access.js';
import { othersScripts } from './others.js';
import { topologyScripts } from './topology.js';
import type { Script } from './script.js';

export type { Line, Script } from './script.js';

/** Command lines that are run one after the other, on a virtual host of their own. */
export const scripts: readonly Script[] = [...accessScripts, ...topologyScripts, ...othersScripts];
