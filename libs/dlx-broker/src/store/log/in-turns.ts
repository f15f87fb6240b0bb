import { nextTurnUnless, type Runtime } from './options.js';

/** Rows of a table that a long loop looks at in one turn of the event loop: a few milliseconds. A power of two. */
const rowsInTurn = 16_384;

/** Whether a loop that counts rows yields now. */
export const isTurnOver = (count: number): boolean => (count & (rowsInTurn - 1)) === 0;

/**
 * Does long work, with a turn of the event loop between two steps.
 * @returns what the work returns
 * @throws the reason of the signal: an aborted signal leaves the work unfinished
 */
export async function inTurns<Result>(
  work: Iterator<void, Result>,
  runtime: Runtime,
  signal?: AbortSignal,
): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurnUnless(signal, runtime);
  }
}

/** Does long work in this turn of the event loop. @returns what the work returns */
export function inOneTurn<Result>(work: Iterator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** The numbers that pass a test, in their order. */
export function* chosen(numbers: Uint32Array, test: (number: number) => boolean): Generator<void, Uint32Array> {
  const found = new Uint32Array(numbers.length);
  let count = 0;
  for (let index = 0; index < numbers.length; index++) {
    if (isTurnOver(index + 1)) yield;
    const number = numbers[index] as number;
    if (test(number)) found[count++] = number;
  }
  return count === numbers.length ? found : found.slice(0, count);
}

/** Sorts in place by a key of each number; equal keys keep their order. Numbers that are in order cost one look. */
export function* sorting(numbers: Uint32Array, keyOf: (number: number) => number): Generator<void, Uint32Array> {
  const { length } = numbers;
  let ordered = 1;
  for (let last = 0; ordered < length; ordered++) {
    if (isTurnOver(ordered)) yield;
    if (ordered === 1) last = keyOf(numbers[0] as number);
    const key = keyOf(numbers[ordered] as number);
    if (key < last) break;
    last = key;
  }
  if (ordered >= length) return numbers;
  for (let from = 0; from < length; from += shortRun) {
    numbers.subarray(from, from + shortRun).sort((one, other) => keyOf(one) - keyOf(other));
    yield;
  }
  let source = numbers;
  let target: Uint32Array = new Uint32Array(length);
  for (let width = shortRun; width < length; width *= 2) {
    yield* merging(source, target, width, keyOf);
    [source, target] = [target, source];
  }
  if (source !== numbers) numbers.set(source);
  return numbers;
}

/** Sorted in one piece. */
const shortRun = 4_096;

/** Merges sorted runs of a width in pairs. */
function* merging(
  source: Uint32Array,
  target: Uint32Array,
  width: number,
  keyOf: (number: number) => number,
): Generator<void, undefined> {
  const { length } = source;
  for (let from = 0; from < length; from += 2 * width) {
    const middle = Math.min(from + width, length);
    const end = Math.min(from + 2 * width, length);
    let [left, right] = [from, middle];
    for (let at = from; at < end; at++) {
      if (isTurnOver(at + 1)) yield;
      const takesLeft =
        right >= end || (left < middle && keyOf(source[left] as number) <= keyOf(source[right] as number));
      target[at] = source[takesLeft ? left++ : right++] as number;
    }
  }
}
