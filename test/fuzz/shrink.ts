import type { Finding } from './campaign.js';
import { kindOf, type Difference } from './difference.js';
import { isFair } from './generator.js';
import type { Opponent } from './opponent.js';
import type { Program, Step } from './program.js';

/** The most runs for one finding, and how many of them at the same time. */
const mostRuns = 120;
const together = 12;

/** Removes everything that the difference does not need. The rest still differs. */
export async function shrink(finding: Finding, opponent: Opponent): Promise<Finding> {
  let { program, difference } = finding;
  const kind = kindAt(program, difference);
  let runs = 0;
  program = program.slice(0, difference.at + 1);
  for (let found = true; found && runs < mostRuns;) {
    found = false;
    const candidates = smaller(program);
    for (let index = 0; index < candidates.length && runs < mostRuns; index += together) {
      const some = candidates.slice(index, index + together);
      runs += some.length;
      const results = await Promise.all(some.map((candidate) => differs(candidate, kind, opponent)));
      const best = results.findIndex((result) => result !== undefined);
      if (best < 0) continue;
      difference = results[best] as Difference;
      program = (some[best] as Program).slice(0, difference.at + 1);
      found = true;
      break;
    }
  }
  return { ...finding, program, difference };
}

const kindAt = (program: Program, difference: Difference): string =>
  kindOf(difference, program[difference.at]?.do ?? '');

/** True if the program still has a difference of the same kind. */
async function differs(program: Program, kind: string, opponent: Opponent): Promise<Difference | undefined> {
  if (!(await isFair(program, opponent.profile))) return undefined;
  const result = await opponent.duel(program);
  return typeof result !== 'string' && kindAt(program, result) === kind ? result : undefined;
}

/** Smaller variants of a program, the smallest first. */
function smaller(program: Program): Program[] {
  const candidates: Program[] = [];
  for (let size = Math.floor(program.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = program.length - size; start >= 0; start -= size) {
      candidates.push([...program.slice(0, start), ...program.slice(start + size)]);
    }
  }
  for (const [index, step] of program.entries()) {
    for (const simpler of simplified(step))
      candidates.push(program.map((other, place) => (place === index ? simpler : other)));
  }
  return candidates;
}

/** Smaller variants of a step. */
function simplified(step: Step): Step[] {
  const simpler: Step[] = [];
  for (const field of ['args', 'flags', 'definition', 'sent'] as const) {
    const values = (step as unknown as Record<string, object | undefined>)[field];
    for (const name of Object.keys(values ?? {}))
      simpler.push({ ...step, [field]: without(values as object, name) } as Step);
  }
  if (step.do === 'publish') {
    const { headers } = step.sent;
    for (const name of Object.keys(headers ?? {})) {
      simpler.push({
        ...step,
        sent: { ...step.sent, headers: without(headers as object, name) as NonNullable<typeof headers> },
      });
    }
    if (step.bodies.length > 1) simpler.push({ ...step, bodies: step.bodies.slice(0, -1) });
    if (step.mandatory) simpler.push({ ...step, mandatory: false });
  }
  if (step.do === 'settle' && step.multiple) simpler.push({ ...step, multiple: false });
  if (step.do === 'elapse' && step.units > 1) simpler.push({ ...step, units: 1 });
  return simpler;
}

const without = (values: object, name: string): object =>
  Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));
