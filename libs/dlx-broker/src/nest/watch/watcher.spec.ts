import { ManualClock } from 'dlx-broker/testing';
import { describe, expect, it } from 'vitest';
import type { Backend, QueueStatus } from '../../backend/index.js';
import type { EventLog } from '../event-log.js';
import type { DlxAlert } from './alert.js';
import { checkedWatch, type WatchOptions } from './options.js';
import { SelectedQueues } from './selected-queues.js';
import { Watcher } from './watcher.js';

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
/** All that follows without a timer. */
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Server {
  readonly names?: () => Promise<readonly string[]>;
  readonly status?: (queue: string) => Promise<QueueStatus | undefined>;
  readonly oldest?: () => Promise<never>;
}

/** A watch of a server that lists, measures and browses as it is made to. */
function watch(options: WatchOptions, server: Server, ofHandlers: readonly string[] = []) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const alerts: DlxAlert[] = [];
  const state = { kind: 'ready' };
  const one: QueueStatus = { messages: 1, unacknowledged: undefined, consumers: 0 } as QueueStatus;
  const { names, oldest, status = () => Promise.resolve(one) } = server;
  const backend = {
    clock,
    state,
    status,
    ...(names && { listing: { queueNames: names } }),
    ...(oldest && { browsing: { oldest } }),
  } as unknown as Backend;
  const checked = checkedWatch(options);
  const watcher = new Watcher({
    backend,
    log: { write: (_: string, text: string) => lines.push(text) } as unknown as EventLog,
    queues: new SelectedQueues(checked.queues, () => new Set(ofHandlers)),
    options: checked,
    emit: (alert) => alerts.push(alert),
  });
  watcher.start();
  const advance = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      await turns();
    }
  };
  return { clock, watcher, lines, alerts, state, advance, raised: () => alerts.map(({ queue }) => queue) };
}

describe('a look at the queues of a server', () => {
  it('goes on beside a queue for which there is no place, and says so once', async () => {
    const names = Array.from({ length: 1_000 }, (_, number) => `old ${number}`);
    let full = false;
    const status = (queue: string): Promise<QueueStatus> =>
      Promise.resolve({ messages: full && queue === 'old 999' ? 5 : 0, unacknowledged: undefined, consumers: 0 });
    const { advance, raised, lines } = watch(
      { queues: /./, atLeast: 5 },
      { status, names: () => Promise.resolve(full ? ['new', ...names] : names) },
    );
    await turns();
    full = true;
    await advance(30);
    expect(raised()).toEqual(['old 999']);
    expect(lines).toEqual([expect.stringContaining('more than 1000 queues')]);
  });

  it('is made without a list that does not come, and asks for one list at a time', async () => {
    let asked = 0;
    const names = (): Promise<never> => {
      asked++;
      return never();
    };
    const { advance, raised, watcher, clock, lines } = watch({ queues: /\.parked$/, atLeast: 1 }, { names }, [
      'orders.parked',
      'orders',
    ]);
    await advance(60);
    expect([asked, raised()]).toEqual([1, ['orders.parked']]);
    expect(lines).toHaveLength(1);
    watcher.end();
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('judges the lengths of all queues beside an age that does not come, and asks for one age at a time', async () => {
    let asked = 0;
    const oldest = (): Promise<never> => {
      asked++;
      return never();
    };
    const queues = Array.from({ length: 50 }, (_, number) => `q${number}`);
    const { advance, raised, watcher, clock, lines } = watch({ queues, atLeast: 1, olderThan: '1h' }, { oldest });
    await advance(60);
    expect([asked, raised()]).toEqual([1, queues]);
    expect(lines).toHaveLength(1);
    watcher.end();
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('asks for the list of queues while an age does not come', async () => {
    const names = ['orders.parked'];
    const { advance, raised } = watch(
      { queues: /\.parked$/, atLeast: 1, olderThan: '1h' },
      { names: () => Promise.resolve([...names]), oldest: never },
    );
    await advance(30);
    names.push('refunds.parked');
    await advance(30);
    expect(raised()).toEqual(['orders.parked', 'refunds.parked']);
  });

  it('reaches a queue behind many of which the server says nothing, and then asks about it first', async () => {
    let asked = 0;
    const status = (queue: string): Promise<QueueStatus> => {
      if (queue !== 'up') return new Promise((_, reject) => void setDue(reject));
      asked++;
      return Promise.resolve({ messages: 1, unacknowledged: undefined, consumers: 0 });
    };
    const due: { readonly at: number; readonly end: () => void }[] = [];
    const setDue = (end: (error: Error) => void): void =>
      void due.push({ at: looked.clock.now() + 30_000, end: () => end(new Error('home node is down')) });
    const queues = [...Array.from({ length: 10 }, (_, number) => `down ${number}`), 'up'];
    const looked = watch({ queues, atLeast: 1 }, { status });
    for (let second = 0; second < 300; second++) {
      await looked.advance(1);
      while (due[0] !== undefined && due[0].at <= looked.clock.now()) due.shift()!.end();
    }
    expect(looked.raised()).toEqual(['up']);
    expect(asked).toBeGreaterThan(5);
    expect(due.length).toBeLessThanOrEqual(4);
  });

  it('asks for nothing more, and sets no timer, when an answer comes after the end', async () => {
    const answers: ((status: QueueStatus) => void)[] = [];
    let asked = 0;
    const { watcher, clock } = watch(
      { queues: ['a'], olderThan: '1h' },
      {
        status: () => new Promise((resolve) => void answers.push(resolve)),
        oldest: () => {
          asked++;
          return never();
        },
      },
    );
    await turns();
    watcher.end();
    expect(answers).toHaveLength(1);
    answers[0]!({ messages: 1, unacknowledged: undefined, consumers: 0 });
    await turns();
    expect([asked, clock.nextWakeUp()]).toEqual([0, undefined]);
  });

  it('ends with the connection, instead of waiting for it at each queue', async () => {
    const asked: string[] = [];
    const looked = watch(
      { queues: ['a', 'b', 'c'], atLeast: 1 },
      {
        status: (queue) => {
          asked.push(queue);
          looked.state.kind = 'connecting';
          return Promise.reject(new Error('there was no connection in time'));
        },
      },
    );
    await looked.advance(30);
    expect(asked).toEqual(['a']);
    looked.state.kind = 'ready';
    await looked.advance(10);
    expect(asked).toEqual(['a', 'a']);
  });
});
