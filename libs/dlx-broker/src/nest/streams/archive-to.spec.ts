import { setImmediate as soon } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { deadQueue, lettersHarness } from '../../../../../test/harnesses/letters-harness.js';
import { type ArchiveSink, archiveTo } from './settling.js';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await soon();
};

it('archiveTo writes, flushes and then acks each letter, in order', async () => {
  const { letters, queue, die } = await lettersHarness();
  die('a', 'b');
  const steps: string[] = [];
  let flushed: () => void = () => {};
  const sink = {
    write: (letter: { payload: unknown }) => void steps.push(`write ${String(letter.payload)}`),
    flush: () => {
      steps.push('flush');
      return new Promise<void>((resolve) => (flushed = resolve));
    },
  };
  const subscription = letters
    .from(deadQueue)
    .pipe(archiveTo(sink))
    .subscribe((letter) => steps.push(`acked ${String(letter.payload)}`));
  await settle();
  expect([steps, queue(deadQueue).unacknowledged]).toEqual([['write a', 'flush'], 2]);
  flushed();
  await settle();
  expect([steps, queue(deadQueue).unacknowledged]).toEqual([['write a', 'flush', 'acked a', 'write b', 'flush'], 1]);
  subscription.unsubscribe();
  flushed(); // too late: the letter is back in its queue
  await settle();
  expect([queue(deadQueue).ready, queue(deadQueue).unacknowledged]).toEqual([1, 0]);
});

it('archiveTo: at the end of the application the stream completes, and nothing is written any more', async () => {
  const { letters, queue, die } = await lettersHarness();
  die('a', 'b');
  const written: unknown[] = [];
  let answer: () => void = () => undefined;
  const write = ({ payload }: { payload: unknown }): Promise<void> => {
    written.push(payload);
    return new Promise((resolve) => (answer = resolve));
  };
  const ends: unknown[] = [];
  letters
    .from(deadQueue)
    .pipe(archiveTo({ write }))
    .subscribe({ error: (error: unknown) => ends.push(error), complete: () => ends.push('complete') });
  await settle();
  letters.close();
  answer();
  await settle();
  expect([written, ends, queue(deadQueue).ready]).toEqual([['a'], ['complete'], 2]);
});

const full = (): never => {
  throw new Error('disk full');
};
const fails = (): Promise<never> => Promise.reject(new Error('disk full'));

it.each<[string, ArchiveSink]>([
  ['write throws', { write: full }],
  ['write rejects', { write: fails }],
  ['flush rejects', { write: () => undefined, flush: fails }],
])('archiveTo: nothing is acked when %s', async (_, sink) => {
  const { letters, queue, die } = await lettersHarness();
  die('a', 'b', 'c');
  let failure: unknown;
  letters
    .from(deadQueue)
    .pipe(archiveTo(sink))
    .subscribe({ error: (error: unknown) => (failure = error) });
  await settle();
  expect(String(failure)).toContain('disk full');
  expect([queue(deadQueue).ready, queue(deadQueue).unacknowledged]).toEqual([3, 0]);
});

it('archiveTo: a sink that hangs for one queue does not hold up another, and fails after its time', async () => {
  const { letters, queue, die, publish, clock } = await lettersHarness();
  die('a');
  for (const body of ['x', 'y']) publish(body, {}, { exchange: '', routingKey: 'graveyard' });
  const sink = {
    write: (letter: { queue: string }) => (letter.queue === deadQueue ? new Promise(() => {}) : undefined),
  };
  let failure: unknown;
  letters
    .from(/^(orders\.dead|graveyard)$/)
    .pipe(archiveTo(sink, { within: '30s' }))
    .subscribe({ error: (error: unknown) => (failure = error) });
  await settle();
  expect([queue('graveyard').ready, queue('graveyard').unacknowledged]).toEqual([0, 0]);
  expect(queue(deadQueue).unacknowledged).toBe(1);
  clock.advance(29_999);
  expect(failure).toBeUndefined();
  clock.advance(1);
  await settle();
  expect(failure).toMatchObject({ name: 'CallbackTimeoutError', within: 30_000 });
  expect([queue(deadQueue).ready, queue(deadQueue).unacknowledged]).toEqual([1, 0]);
});

it('archiveTo refuses a sink without write, and unknown options', () => {
  expect(() => archiveTo({} as never)).toThrow('it has no method write()');
  expect(() => archiveTo({ write: () => undefined }, { whitin: 5 } as object)).toThrow("did you mean 'within'");
});
