import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { reasonToAvoid } from './avoided.js';
import { drawStep, type Draft } from './draw-step.js';
import { drawNames, drawPolicy, drawTopology } from './draw-topology.js';
import { unhurried } from './pace.js';
import type { Program, Step } from './program.js';
import { Random } from './random.js';
import { channelCount, Rehearsal } from './rehearsal.js';

/** The longest time a program lets pass, in units. */
const mostUnits = 3;

/** The program of a seed. It is drawn while the engine runs it, so that most of its steps have something to work on. */
export async function generate(seed: number, profile: ProfileName): Promise<Program> {
  const random = new Random(seed);
  const names = drawNames(random);
  const steps: Step[] = [];
  let rehearsal = await Rehearsal.of([], unhurried, profile);
  let count = 0;

  /** Adds a step, unless it has to be dropped: then nothing changes. */
  const attempt = async (step: Step): Promise<boolean> => {
    if ((await reasonAgainst(step, rehearsal)) === undefined) {
      steps.push(step);
      return true;
    }
    rehearsal = await Rehearsal.of(steps, unhurried, profile);
    return false;
  };

  const topology = drawTopology(random, names);
  const policies = random.chance(0.2);
  const transactions = random.chance(0.3);
  const sharedLimits = random.chance(0.25);
  if (policies && random.chance(0.6))
    topology.splice(random.integer(0, topology.length), 0, drawPolicy(random, names, random.chance(0.25)));
  for (const step of topology) await attempt(step);
  if (random.chance(0.5)) await attempt({ do: 'confirmSelect', channel: 0 });
  if (transactions) await attempt({ do: 'txSelect', channel: 1 });
  const types = new Map(
    topology.flatMap((step) => (step.do === 'declareExchange' ? [[step.name, step.type] as const] : [])),
  );
  const queueTypes = new Map(
    topology.flatMap((step) =>
      step.do === 'declareQueue' ? [[step.name, 'x-queue-type' in step.args ? 'quorum' : 'classic'] as const] : [],
    ),
  );
  let units = 0;
  for (let left = random.integer(8, 28), tries = 140; left > 0 && tries > 0; tries--) {
    const draft: Draft = {
      random,
      names,
      rehearsal,
      types,
      queueTypes,
      policies,
      transactions,
      sharedLimits,
      unitsLeft: mostUnits - units,
      count: () => ++count,
    };
    const step = drawStep(draft);
    if (step === undefined || !(await attempt(step))) continue;
    if (step.do === 'elapse') units += step.units;
    left--;
  }
  for (let channel = 0; channel < channelCount; channel++) await attempt({ do: 'close', channel });
  for (const queue of names.queues) await attempt({ do: 'drain', queue });
  return steps;
}

/** True if no step has to be dropped. */
export async function isFair(program: Program, profile: ProfileName): Promise<boolean> {
  const rehearsal = await Rehearsal.of([], unhurried, profile);
  for (const step of program) {
    if ((await reasonAgainst(step, rehearsal)) !== undefined) return false;
  }
  return true;
}

/** Performs a step. @returns the reason to drop it, if there is one */
async function reasonAgainst(step: Step, rehearsal: Rehearsal): Promise<string | undefined> {
  const { ground, world } = rehearsal;
  const channels = Array.from({ length: channelCount }, (_, channel) => channel);
  const before = channels.map((channel) => world.generation(channel));
  const consumers = world.consumers();
  const held = channels.flatMap((channel) => world.held(channel));
  const holdsRejection = 'channel' in step && world.holdsRejection(step.channel);
  const { holdsPublish } = world;
  const names = [...ground.queues.keys()];
  ground.events.length = 0;
  await rehearsal.perform(step);
  if (world.isCutOff) return 'a hard error';
  const ended = consumers.filter(({ channel }) => world.generation(channel) !== before[channel]);
  const { events, queues } = ground;
  const losesQueue = names.some((name) => !queues.has(name));
  return reasonToAvoid({
    events,
    queues,
    consumers: world.consumers(),
    ended,
    step,
    held,
    holdsRejection,
    losesTarget: holdsPublish && losesQueue,
    copied: world.copied,
  });
}
