import { expect, it } from 'vitest';
import { ManualClock } from '../../../testing/manual-clock.js';
import { RabbitMqBackend, type RabbitMqHost } from '../backend.js';
import type { AmqpChannel, AmqpConnection } from '../client/api.js';
import type { Transport } from '../client/transport.js';
import { resolveRabbitMq } from '../resolve-options.js';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

/** A backend on a server that keeps the connection alive, and answers no command. */
async function arrange() {
  const clock = new ManualClock();
  const closed: number[] = [];
  let channels = 0;
  const openChannel = (): AmqpChannel => {
    const number = ++channels;
    const never = (): void => undefined;
    const close = (): void => void closed.push(number);
    const calls = { checkQueue: never, declareQueue: never, checkExchange: never, declareExchange: never };
    return { isOpen: true, close, ...calls } as unknown as AmqpChannel;
  };
  const host = {
    clock,
    random: () => 0.5,
    later: (act: () => void) => act(),
    fault: (error: unknown) => {
      throw error;
    },
    warn: () => undefined,
    keepAlive: () => () => undefined,
    dial: () => ({}) as Transport,
    openPublisher: () => ({}),
    openConnection: (...[, , , events]: Parameters<RabbitMqHost['openConnection']>) => {
      const description = { properties: new Map(), product: 'RabbitMQ', version: '3.10.8', can: () => true };
      queueMicrotask(() => events.opened(description));
      return { isOpen: true, isBlocked: false, openChannel } as unknown as AmqpConnection;
    },
  } as unknown as RabbitMqHost;
  const limits = { declareTimeout: '20s', publishTimeout: '3s' } as const;
  const backend = new RabbitMqBackend(resolveRabbitMq({ urls: 'amqp://h', ...limits }), host);
  await backend.connect();
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

it('a declaration that the server does not answer fails at its time, and closes its channel', async () => {
  const { backend, after, note, closed } = await arrange();
  const place = { durable: true, exclusive: false, autoDelete: false, arguments: new Map(), origin: 'Orders.take' };
  backend.declare({ exchanges: [], queues: [{ name: 'q', ...place }], bindings: [] }).catch(note);
  expect(await after(19_999)).toEqual([]);
  expect(await after(1)).toEqual([
    "ConnectionLostError: queue 'q' (Orders.take) cannot be declared now: the server gave no answer in time",
  ]);
  expect(closed).toEqual([1]);
});

it('a question about a queue that the server does not answer fails at its time', async () => {
  const { backend, after, note } = await arrange();
  backend.status('q').catch(note);
  expect(await after(2_999)).toEqual([]);
  expect(await after(1)).toEqual(['ConnectionLostError: the server gave no answer in time']);
});
