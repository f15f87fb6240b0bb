import { describe, expect, it } from 'vitest';
import { EmbeddedBackend, type QueueStatus } from '../../backends/index.js';
import { createBroker } from '../../engine.js';
import { ManualClock } from '../testing/manual-clock.js';
import { watchRequester } from './requester-watch.js';

const there: QueueStatus = { messages: 0, unacknowledged: 0, consumers: 1 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A backend that does not tell by itself when a requester goes, and what it answers when it is asked. */
function arrange(...answers: (QueueStatus | undefined | Error)[]) {
  const clock = new ManualClock();
  const asked: number[] = [];
  class Plain extends EmbeddedBackend {
    override readonly onRequesterGone = undefined as never;

    override async status(): Promise<QueueStatus | undefined> {
      asked.push(clock.now());
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    }
  }
  const begun = clock.now();
  let gone = 0;
  const stop = watchRequester(new Plain(createBroker({ clock })), 'answers', 'c', () => void gone++);
  const advance = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await turn();
  };
  return { advance, stop, gone: () => gone, asked: () => asked.map((time) => time - begun) };
}

describe('a requester whose end the backend does not report', () => {
  it('is checked every five seconds, and its end is reported once', async () => {
    const { advance, gone, asked } = arrange(there, there, undefined);
    await advance(4_999);
    expect(asked()).toEqual([]);
    await advance(1);
    await advance(5_000);
    expect([asked(), gone()]).toEqual([[5_000, 10_000], 0]);
    await advance(5_000);
    expect(gone()).toBe(1);
    await advance(60_000);
    expect([asked(), gone()]).toEqual([[5_000, 10_000, 15_000], 1]);
  });

  it('may still be there when the broker cannot be asked', async () => {
    const { advance, gone, asked } = arrange(new Error('down'), undefined);
    await advance(5_000);
    expect(gone()).toBe(0);
    await advance(5_000);
    expect([asked(), gone()]).toEqual([[5_000, 10_000], 1]);
  });

  it('is not looked for once the answer is over', async () => {
    const { advance, stop, asked } = arrange(there);
    await advance(5_000);
    stop();
    await advance(60_000);
    expect(asked()).toEqual([5_000]);
  });

  it('is not reported when the answer ended while the broker was asked', async () => {
    const { advance, stop, gone } = arrange(undefined);
    const asking = advance(5_000);
    stop();
    await asking;
    await advance(60_000);
    expect(gone()).toBe(0);
  });

  it('is not looked for again when the answer ended while a broker was asked that fails', async () => {
    const { advance, stop, asked } = arrange(new Error('down'));
    const asking = advance(5_000);
    stop();
    await asking;
    await advance(60_000);
    expect(asked()).toEqual([5_000]);
  });
});
