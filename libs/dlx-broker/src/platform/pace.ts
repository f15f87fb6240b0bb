import type { Pace } from '../engine/broker/index.js';

/** Yields to the event loop after 500 steps. A step takes up to five microseconds (bench/event-loop.ts). */
export const turnPace: Pace = { budget: 500, later: (resume) => setImmediate(resume) };
