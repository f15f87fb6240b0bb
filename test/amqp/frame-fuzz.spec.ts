import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Malformed, methodIds } from '../../libs/dlx-broker/src/engine/message/index.js';
import {
  FrameReader,
  type FrameSink,
  frameTypes,
  headerPrefix,
  type MethodReader,
  methods,
  ReceivedProperties,
  StrictMethodReader,
  WireError,
} from '../../libs/dlx-broker/src/amqp/wire/index.js';
import { frameCorpus } from './frame-corpus.js';
import { Mutator } from './mutator.js';
import { amount } from '../amounts.js';

const inputs = amount('FUZZ_INPUTS', 100_000, 2_000_000);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);

/** Milliseconds of the processor that no input may take. */
const longest = 50;

type Read = (from: MethodReader) => unknown;
const readers = new Map<number, Read>(
  Object.entries(methodIds).flatMap(([name, id]) => {
    const read = (methods as unknown as Record<string, Read>)[`read${name[0]?.toUpperCase()}${name.slice(1)}`];
    return read === undefined ? [] : [[id, read]];
  }),
);

/** Decodes whatever comes, as a connection does. */
class Decoder implements FrameSink {
  frames = 0;
  readonly #from = new StrictMethodReader(Buffer.alloc(0));

  frame(type: number, _channel: number, bytes: Buffer, start: number, end: number): boolean {
    this.frames += 1;
    if (type === frameTypes.method && end - start >= 4) {
      this.#from.reset(bytes, start + 4, end);
      readers.get(bytes.readInt32BE(start))?.(this.#from);
    } else if (type === frameTypes.header && end - start >= headerPrefix) {
      new ReceivedProperties(Buffer.from(bytes.subarray(start + headerPrefix, end)));
    }
    return true;
  }
}

// Two million errors need no stack traces.
const { stackTraceLimit } = Error;
beforeAll(() => void (Error.stackTraceLimit = 0));
afterAll(() => void (Error.stackTraceLimit = stackTraceLimit));

describe('the frame parser, fed with mutated frames cut at random boundaries', () => {
  it(`fails with nothing but protocol errors, at once, in flat memory (${inputs} inputs, seed ${seed})`, () => {
    const mutator = new Mutator(seed);
    const corpus = frameCorpus();
    const decoder = new Decoder();
    const outcomes = { whole: 0, refused: 0 };
    let slowest = 0;
    let before = 0;
    for (let count = 0; count < inputs; count++) {
      if (count === Math.floor(inputs / 4)) before = used();
      const input = mutator.mutate(corpus);
      const pieces = mutator.cut(input);
      const begun = performance.now();
      const outcome = read(decoder, pieces);
      const took = performance.now() - begun;
      // The machine may have done something else meanwhile; only such an input is looked at more closely.
      slowest = Math.max(slowest, took < longest ? took : costOf(() => read(decoder, pieces)));
      if (outcome === undefined) outcomes.whole += 1;
      else if (outcome instanceof WireError || outcome instanceof Malformed) outcomes.refused += 1;
      else throw new Error(`input ${count}: ${input.toString('hex')}`, { cause: outcome });
    }
    const grown = used() - before;
    console.info(
      `frame fuzz: ${inputs} inputs, ${decoder.frames} frames, ${outcomes.refused} refused, ` +
        `slowest ${slowest.toFixed(1)} ms, memory ${(grown / 1e6).toFixed(1)} MB more than after a quarter`,
    );
    expect(outcomes.refused).toBeGreaterThan(inputs / 20);
    expect(outcomes.whole).toBeGreaterThan(inputs / 20);
    expect(slowest).toBeLessThan(longest);
    expect(grown).toBeLessThan(50e6);
  }, 300_000);
});

/** @returns what went wrong, or undefined */
function read(decoder: Decoder, pieces: readonly Buffer[]): unknown {
  const reader = new FrameReader(decoder);
  try {
    for (const piece of pieces) {
      reader.push(piece);
      reader.run();
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

/** @returns milliseconds of the processor that it takes at least: what is slow by itself is slow every time */
function costOf(work: () => void): number {
  const costs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...costs);
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
