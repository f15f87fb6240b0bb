import { describe, expect, it } from 'vitest';
import type { BackendDelivery } from '../../backends/index.js';
import { Message } from '../../engine/message/index.js';
import { WaitQueues } from '../retry/index.js';
import { harness } from '../../testing.js';
import type { EventLog } from '../log/event-log.js';
import { DeliveryTimers } from './delivery-timers.js';
import { DlxContext } from './context.js';
import type { Handler, Taken } from './handler.js';
import { readSettings } from './handler-settings.js';
import type { OutcomeEvents } from './outcome-events.js';
import { Settlement } from './settlement.js';

function arrange() {
  const { backend, clock } = harness();
  const lines: string[] = [];
  const log = { write: (event: string) => void lines.push(event), writes: () => true } as unknown as EventLog;
  const events = { settled: () => undefined } as unknown as OutcomeEvents;
  const options = { logFailures: 'all' } as const;
  const settlement = new Settlement(
    backend,
    new WaitQueues(backend),
    events,
    options,
    log,
    new DeliveryTimers(backend.clock),
    [],
  );
  const message = new Message('', 'q', {}, new Uint8Array());
  const invoke = () => Promise.resolve();
  const handler: Handler = { origin: 'A.b', kind: 'event', patterns: ['x'], settings: readSettings([], 'A.b'), invoke };
  const planned = { handler, queue: 'q', retry: undefined };
  return { settlement, lines, clock, message, planned };
}

/** Rescues a message whose handler failed. @returns the events of the log, and how often the message was rejected */
function rescued(settled: boolean): readonly unknown[] {
  const { settlement, lines, clock, message, planned } = arrange();
  let rejected = 0;
  const delivery = { message, queue: 'q', settled, reject: () => void rejected++ } as unknown as BackendDelivery;
  settlement.rescue({ delivery, planned }, new Error('a bug'), true);
  clock.advance('1m');
  return [lines, rejected];
}

describe('a message whose settlement failed', () => {
  it('is settled as after another failure', () => {
    expect(rescued(false)).toEqual([['unsettled', 'failed'], 1]);
  });

  it('is left alone if it was settled before', () => {
    expect(rescued(true)).toEqual([['unsettled'], 0]);
  });
});

it('a message that no handler had, and that the broker keeps refusing, returns without counting for a delivery limit', async () => {
  const { settlement, clock, message, planned } = arrange();
  const calls: string[] = [];
  const delivery = {
    message,
    queue: 'q',
    get settled() {
      return calls.length > 0;
    },
    replaceBy: (_: unknown, done: (failure: Error) => void) => done(new Error('full')),
    giveBack: () => void calls.push('giveBack'),
    requeue: () => void calls.push('requeue'),
  } as unknown as BackendDelivery;
  settlement.wait(delivery, planned);
  for (let minutes = 0; minutes < 40; minutes++) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    clock.advance('1m');
  }
  expect(calls).toEqual(['giveBack']);
});

it.each([
  ['a hold', 'held', (settlement: Settlement, { delivery, planned }: Taken) => settlement.wait(delivery, planned)],
  [
    'the wait for a duplicate that is being handled',
    undefined,
    (settlement: Settlement, taken: Taken) =>
      settlement.end(
        { failed: false, skipped: 'busy' },
        { ...taken, context: new DlxContext(taken.delivery), replies: undefined },
      ),
  ],
] as const)('%s that throws when it begins is tried again, and reported once', async (_, kind, begin) => {
  const { settlement, lines, clock, message, planned } = arrange();
  let tries = 0;
  let isSettled = false;
  const delivery = {
    message,
    queue: 'q',
    get settled() {
      return isSettled;
    },
    get recordsOrigins() {
      if (++tries === 1) throw new Error('a bug');
      return false;
    },
    replaceBy: (__: unknown, done: () => void) => {
      isSettled = true;
      done();
    },
  } as unknown as BackendDelivery;
  begin(settlement, { delivery, planned });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  await turns();
  clock.advance('1s');
  await turns();
  expect([tries, isSettled, lines]).toEqual([2, true, kind === undefined ? ['unsettled'] : ['unsettled', kind]]);
  expect(settlement.reports.counts).toMatchObject({ held: kind === undefined ? 0 : 1, rejected: 0, acked: 0 });
  await settlement.idle('q');
});
