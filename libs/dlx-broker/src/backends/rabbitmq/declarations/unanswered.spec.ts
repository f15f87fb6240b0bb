import { expect, it } from 'vitest';
import { connectedBackend, settle } from '../../../../../../test/harnesses/connected-backend.js';
import { Calls } from './calls.js';
import type { ManualClock } from '../../../nest/testing/manual-clock.js';
import { after as onClock } from '../../../platform/index.js';
import type { AmqpChannel, AmqpConnection, Done } from '../../../amqp/client/api.js';
import { ChannelClosedError } from '../../../amqp/client/errors.js';

/** A backend on a server that keeps the connection alive, and answers no command unless it is given an answer. */
async function arrange(declareQueue?: (clock: ManualClock, answer: (failure?: Error) => void) => void) {
  const closed: number[] = [];
  let channels = 0;
  const openChannel = (): AmqpChannel => {
    const number = ++channels;
    const never = (): void => undefined;
    const close = (): void => void closed.push(number);
    const calls = { checkQueue: never, declareQueue: never, checkExchange: never, declareExchange: never };
    const missing = (_name: string, answer: Done): void => answer(new ChannelClosedError(404, 'NOT_FOUND', ''));
    const declare = (_name: string, _options: unknown, answer: Done): void => declareQueue?.(clock, answer);
    const answers = declareQueue && { checkQueue: missing, declareQueue: declare };
    return { isOpen: true, close, ...calls, ...answers } as unknown as AmqpChannel;
  };
  const log = {
    fault: (error: unknown) => {
      throw error;
    },
    warn: () => undefined,
  };
  const { backend, clock } = await connectedBackend(openChannel, { declareTimeout: '20s', publishTimeout: '3s' }, log);
  const outcome: string[] = [];
  const after = async (milliseconds: number): Promise<readonly string[]> => {
    await settle();
    clock.advance(milliseconds);
    await settle();
    return outcome;
  };
  const note = (error: Error): void => void outcome.push(`${error.name}: ${error.message}`);
  return { backend, after, note, closed };
}

const place = { durable: true, exclusive: false, autoDelete: false, arguments: new Map(), origin: 'Orders.take' };

it('a declaration that the server does not answer fails at its time, and closes its channel', async () => {
  const { backend, after, note, closed } = await arrange();
  backend.declare({ exchanges: [], queues: [{ name: 'q', ...place }], bindings: [] }).catch(note);
  expect(await after(19_999)).toEqual([]);
  expect(await after(1)).toEqual([
    "ConnectionLostError: queue 'q' (Orders.take) cannot be declared now: the server gave no answer in time",
  ]);
  expect(closed).toEqual([1]);
});

it('many declarations may take longer together than one answer may take', async () => {
  const { backend, after, note } = await arrange((clock, answer) => void onClock(clock, 15_000, () => answer()));
  const queues = ['a', 'b', 'c'].map((name) => ({ name, ...place }));
  let isDeclared = false;
  backend.declare({ exchanges: [], queues, bindings: [] }).then(() => (isDeclared = true), note);
  for (let n = 0; n < 3; n++) expect(await after(15_000)).toEqual([]);
  expect(isDeclared).toBe(true);
});

it('a declaration that is refused for the moment fails with the reason of the server, also if the time ends in a pause', async () => {
  const text = "INTERNAL_ERROR - queue 'q' has no leader";
  const { backend, after, note } = await arrange(
    (clock, answer) => void onClock(clock, 10, () => answer(new ChannelClosedError(541, text, ''))),
  );
  backend.declare({ exchanges: [], queues: [{ name: 'q', ...place }], bindings: [] }).catch(note);
  let outcome: readonly string[] = [];
  for (let n = 0; n < 3_000 && outcome.length === 0; n++) outcome = await after(10);
  expect(outcome).toEqual([`ServerError: queue 'q' (Orders.take) cannot be declared now: ${text}`]);
});

it('a question about a queue that the server does not answer fails at its time', async () => {
  const { backend, after, note } = await arrange();
  backend.status('q').catch(note);
  expect(await after(2_999)).toEqual([]);
  expect(await after(1)).toEqual(['ConnectionLostError: the server gave no answer in time']);
});

it('work that was given up opens no further channel when its command fails after all', async () => {
  let opened = 0;
  let fail = (_failure: Error): void => undefined;
  const openChannel = (): AmqpChannel => {
    opened++;
    return { isOpen: true, close: () => undefined } as unknown as AmqpChannel;
  };
  const calls = new Calls({ openChannel } as unknown as AmqpConnection);
  const work = calls
    .run((_channel, done) => (fail = done as never))
    .catch(() => calls.run((_channel, done) => done()))
    .catch((error: Error) => error.name);
  calls.end();
  fail(new Error('closed'));
  expect([await work, opened]).toEqual(['UnsendableError', 1]);
});
