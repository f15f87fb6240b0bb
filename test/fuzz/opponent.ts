import type { Verdict } from './duel.js';
import type { Program } from './program.js';

/** The broker with which the engine is compared. */
export interface Opponent {
  readonly name: string;
  /** @param patiently slower from the start, to be sure; no effect in virtual time */
  duel(program: Program, patiently?: boolean): Promise<Verdict>;
}
