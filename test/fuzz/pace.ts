import type { Program, Step } from './program.js';

/**
 * How a program lies in time. Everything between two `elapse` is one slot; slots begin a unit and a bit apart, the bit
 * being longer than all that happens in a slot: then no deadline falls into what a slot does, however many TTLs add up.
 */
export interface Pace {
  /** Milliseconds of a TTL of one. */
  readonly unit: number;
  /** Milliseconds between the beginnings of two slots. */
  readonly stride: number;
  /** The longest time of a slot, in milliseconds. */
  readonly slot: number;
}

/** For the engine in virtual time. */
export const unhurried: Pace = { unit: 1000, stride: 1200, slot: 150 };

/** @param slowness factor of all times */
export function paceOf(program: Program, slowness: number): Pace {
  let slots = 0;
  let cost = 0;
  let largest = 0;
  for (const step of program.slice(beginning(program))) {
    if (step.do === 'elapse') {
      slots += step.units;
      cost = 0;
    } else largest = Math.max(largest, (cost += costOf(step)));
  }
  if (!isTimed(program)) return { unit: 1, stride: 1, slot: Infinity };
  const slot = Math.round((largest + 40) * slowness);
  const margin = slot + 25;
  // Even, for there are halves of it; the half of a queue's own time has to lie between two slots, too.
  const least = expires(program) ? 2 * (slots * margin + slot) + margin : (slots + 1) * margin + slot;
  const unit = 2 * Math.ceil(least / 2);
  return { unit, stride: unit + margin, slot };
}

/** The first step that can start a timer: time is counted from it. */
export function beginning(program: Program): number {
  const first = program.findIndex(
    (step) => step.do === 'publish' || (step.do === 'declareQueue' && 'x-expires' in step.args),
  );
  return first < 0 ? 0 : first;
}

const expires = (program: Program): boolean =>
  program.some((step) => step.do === 'declareQueue' && 'x-expires' in step.args);

/** True if a step can start a timer. */
const isTimed = (program: Program): boolean =>
  /"units":/.test(JSON.stringify(program.filter(({ do: what }) => what !== 'elapse')));

function costOf(step: Step): number {
  switch (step.do) {
    case 'setPolicy':
    case 'clearPolicy':
      return 90;
    case 'publish':
      return 12 + 3 * step.bodies.length;
    default:
      return 12;
  }
}
