import type { Result } from './simulation.js';

/** What went wrong in a run, and the command that runs it again. */
export const shownViolation = ({ seed, violation }: Result): string =>
  `seed ${seed}: ${violation?.message}\nReplay: SIMULATION_SEED=${seed} SIMULATION_SEEDS=1 npx vitest run test/simulation/simulation.spec.ts`;

/** Adds the counts of a run to a sum. */
export function addCounts(sum: Record<string, number>, { counts }: Result): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}
