import type { Pace } from '../broker/index.js';

/** Lets the event loop turn after five hundred steps: some take five microseconds (bench/event-loop.ts). */
export const turnPace: Pace = { budget: 500, later: (resume) => setImmediate(resume) };
