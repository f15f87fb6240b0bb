import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { duel, type Verdict } from './duel.js';
import { isEqual, type Difference } from './difference.js';
import { generate } from './generator.js';
import type { Opponent } from './opponent.js';
import type { Program } from './program.js';
import { type RabbitMqGround, RabbitMqServer } from './rabbitmq-ground.js';

export interface Finding {
  readonly seed: number;
  readonly program: Program;
  readonly difference: Difference;
}

export interface Result {
  readonly programs: number;
  readonly steps: number;
  readonly findings: readonly Finding[];
  /** Seeds of differences that were not reproduced. */
  readonly passing: readonly number[];
  /** Seeds whose programs were too slow in each attempt. */
  readonly late: readonly number[];
  readonly milliseconds: number;
}

export interface CampaignOptions {
  readonly programs: number;
  readonly seed: number;
  /** Programs at the same time, each in a virtual host of its own. */
  readonly width: number;
  /** Reports the progress at intervals. */
  readonly tell?: (line: string) => void;
}

/** The number of slow programs that are repeated at the same time. */
const atLeisure = 6;

/** A real RabbitMQ. Each of its virtual hosts runs one program at a time. */
export class Grounds implements Opponent {
  readonly name = 'RabbitMQ';
  readonly #free: RabbitMqGround[] = [];
  readonly #all: RabbitMqGround[] = [];

  private constructor(readonly profile: ProfileName) {}

  static async of(server: RabbitMqServer, width: number): Promise<Grounds> {
    const grounds = new Grounds(server.address.profile);
    for (let index = 0; index < width; index++) {
      const ground = await server.open();
      grounds.#all.push(ground);
      grounds.#free.push(ground);
    }
    return grounds;
  }

  async duel(program: Program, patiently = false): Promise<Verdict> {
    const ground = this.#free.pop();
    if (ground === undefined) throw new Error('more users than virtual hosts');
    try {
      return await duel(program, ground, this.profile, patiently);
    } finally {
      this.#free.push(ground);
    }
  }

  async close(): Promise<void> {
    for (const ground of this.#all) await ground.close();
  }
}

/** Runs the programs of many seeds on both brokers, several at the same time. */
export async function campaign(opponent: Opponent, options: CampaignOptions): Promise<Result> {
  const { programs, seed: first, width, tell = () => undefined } = options;
  const begun = Date.now();
  const findings: Finding[] = [];
  const passing: number[] = [];
  const late: number[] = [];
  let steps = 0;
  let next = first;
  const judge = async (seed: number, program: Program): Promise<void> => {
    const verdict = await opponent.duel(program);
    if (verdict === 'late') late.push(seed);
    else if (verdict !== 'equal') {
      const again = await confirmed(program, verdict, opponent);
      if (again === undefined) passing.push(seed);
      else findings.push({ seed, program, difference: again });
    }
  };
  const worker = async (): Promise<void> => {
    while (next < first + programs) {
      const seed = next++;
      const program = await generate(seed, opponent.profile);
      steps += program.length;
      await judge(seed, program);
      if ((seed - first + 1) % 100 === 0) tell(`${seed - first + 1} programs, ${findings.length} differences`);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  // Programs that were too slow beside others are repeated, few at the same time.
  const slow = late.splice(0);
  const straggler = async (): Promise<void> => {
    for (let seed = slow.shift(); seed !== undefined; seed = slow.shift())
      await judge(seed, await generate(seed, opponent.profile));
  };
  await Promise.all(Array.from({ length: Math.min(width, atLeisure) }, straggler));
  return { programs, steps, findings, passing, late, milliseconds: Date.now() - begun };
}

/** A difference counts if two slower runs reproduce it. */
async function confirmed(program: Program, first: Difference, opponent: Opponent): Promise<Difference | undefined> {
  let last: Verdict = first;
  for (let tries = 0; tries < 2; tries++) {
    last = await opponent.duel(program, true);
    if (last === 'equal' || last === 'late') return undefined;
  }
  return isEqual(last, 'equal') ? undefined : (last as Difference);
}
