import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Verdict } from './duel.js';
import type { Program } from './program.js';

/** The broker with which the engine is compared. */
export interface Opponent {
  readonly name: string;
  /** The version of RabbitMQ that it is, or behaves like. */
  readonly profile: ProfileName;
  /** @param patiently slower from the start, to be sure; no effect in virtual time */
  duel(program: Program, patiently?: boolean): Promise<Verdict>;
}
