import { Injectable } from '@nestjs/common';
import { afterEach, expect, it } from 'vitest';
import { DlxTesting } from '../../../testing.js';
import { DlxBroker } from '../../module/broker.js';
import { Consume } from '../../decorators/index.js';
import { Circuit, Ordered } from '../index.js';

class BankDown extends Error {}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** What waits for the bank in both handlers. */
const calls: { readonly what: string; readonly answer: (error?: Error) => void }[] = [];
const call = (what: string): Promise<void> =>
  new Promise((resolve, reject) =>
    calls.push({ what, answer: (error) => (error === undefined ? resolve() : reject(error)) }),
  );

@Injectable()
class Payments {
  @Consume('plain')
  @Circuit('bank')
  plain(): Promise<void> {
    return call('plain');
  }

  @Consume('ordered')
  @Circuit('bank')
  @Ordered({ key: ({ id }: { id: number }) => id })
  inOrder(): Promise<void> {
    return call('ordered');
  }
}

/** A circuit of an ordered and another queue, which has just begun to try a message. Both queues have messages. */
async function probing() {
  calls.length = 0;
  const circuits = { bank: { on: BankDown, atLeast: 1, pause: '1m' } } as const;
  const dlx = await DlxTesting.create(
    { providers: [Payments] },
    { logger: false, transport: { circuits, drainTimeout: '1h' } },
  );
  ends.push(() => dlx.close());
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await dlx.publish('plain', { id: 0 });
  calls.shift()!.answer(new BankDown());
  await settle();
  expect(dlx.circuit('bank').state).toBe('open');
  for (const id of [1, 2, 3]) {
    await dlx.publish('ordered', { id });
    await dlx.publish('plain', { id });
  }
  dlx.clock.advance('1m');
  await settle();
  expect(dlx.circuit('bank').state).toBe('probing');
  return { dlx, settle, broker: dlx.app.get(DlxBroker) };
}

it('an ordered queue and another one with the same circuit try one message together', async () => {
  const { dlx, settle, broker } = await probing();
  expect(calls).toHaveLength(1);
  calls.shift()!.answer(new BankDown());
  await settle();
  expect([dlx.circuit('bank').state, calls.length]).toEqual(['open', 0]);
  dlx.clock.advance('1m');
  await settle();
  expect(calls).toHaveLength(1);
  calls.shift()!.answer();
  await settle();
  expect(dlx.circuit('bank').state).toBe('closed');
  for (let round = 0; round < 20; round++) {
    for (const { answer } of calls.splice(0)) answer();
    dlx.clock.advance('1m');
    await settle();
  }
  expect(broker.counts).toMatchObject({ acked: 7, parked: 0 });
  for (const queue of ['ordered', 'plain']) expect(dlx.queue(queue)).toMatchObject({ ready: 0, unacknowledged: 0 });
});

it('what waits for the end of a probe does not hold up a shutdown', async () => {
  const { dlx, settle } = await probing();
  const closed = dlx.app.close();
  await settle();
  for (const { answer } of calls.splice(0)) answer();
  await closed;
  expect(dlx.queue('ordered').ready + dlx.queue('plain').ready).toBeGreaterThanOrEqual(5);
});
