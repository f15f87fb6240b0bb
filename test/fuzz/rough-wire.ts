import type { Program } from './program.js';
import { Random } from './random.js';

/** Changes how the frames of a program travel. The result must be the same. */
export interface Roughness {
  readonly frameMax: number;
  /** Cuts a write into pieces, which arrive one by one; undefined leaves it whole. */
  readonly cut: ((bytes: Buffer) => Buffer[]) | undefined;
}

/** Both profiles take them; since 4.1 the smallest is 8192 (rule W10). */
const frameSizes = [8_192, 16_384, 131_072] as const;

/** Bytes around a frame's payload. */
const overhead = 8;

/** Random numbers from the content of the program, so that each run has the same. */
export function roughnessOf(program: Program): Roughness {
  const random = randomOf(program);
  const frameMax = random.pick(frameSizes);
  const longest = random.pick([0, 3, 40, 5_000]);
  if (longest === 0) return { frameMax, cut: undefined };
  return { frameMax, cut: (bytes) => cutUp(bytes, longest, random) };
}

/** The same program with some bodies so long that they take several frames, or fill one to the last byte. */
export function swollen(program: Program): Program {
  const random = randomOf(program);
  const sizes = frameSizes.flatMap((size) => [size - overhead - 1, size - overhead, size - overhead + 1]);
  return program.map((step) => {
    if (step.do !== 'publish') return step;
    const bodies = step.bodies.map((body) => (random.chance(0.15) ? body.padEnd(random.pick(sizes), '.') : body));
    return { ...step, bodies };
  });
}

/** Cuts bytes into pieces of random lengths. Of a long write only the beginning and the end are cut, which takes less time. */
function cutUp(bytes: Buffer, longest: number, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const isInside = pieces.length === 50 && bytes.length - at > 50 * longest;
    const length = isInside ? bytes.length - at - 50 * longest : random.integer(1, longest);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

function randomOf(program: Program): Random {
  let sum = 0;
  for (const character of JSON.stringify(program)) sum = (Math.imul(sum, 31) + character.charCodeAt(0)) | 0;
  return new Random(sum >>> 0);
}
