import { describe, expect, it } from 'vitest';
import { connectedBackend, settle } from '../../../../../../test/harnesses/connected-backend.js';
import { longstr } from '../../../engine/message/index.js';
import type { AmqpChannel } from '../../../amqp/client/api.js';
import { ChannelClosedError } from '../../../amqp/client/errors.js';

type Failure = readonly [code: number, text: string];

/** A backend on a server without queues, which refuses each declaration of a queue. */
async function arrange(refusal: Failure) {
  const warnings: string[] = [];
  const openChannel = (): AmqpChannel => {
    let isOpen = true;
    const refuse = ([code, text]: Failure, done: (failure: Error) => void): void => {
      isOpen = false;
      queueMicrotask(() => done(new ChannelClosedError(code, text, 'queue.declare')));
    };
    return {
      get isOpen() {
        return isOpen;
      },
      checkQueue: (_: string, done: never) => refuse([404, 'NOT_FOUND - no queue'], done),
      declareQueue: (_: string, __: unknown, done: never) => refuse(refusal, done),
      close: () => void (isOpen = false),
    } as unknown as AmqpChannel;
  };
  const log = {
    fault: (error: unknown) => void warnings.push(String(error)),
    warn: (text: string) => void warnings.push(text),
  };
  const { backend, clock } = await connectedBackend(openChannel, { declareTimeout: '1s' }, log);
  const args = new Map([['x-queue-type', longstr('quorum')]]);
  const queue = {
    name: 'q',
    durable: true,
    exclusive: false,
    autoDelete: false,
    arguments: args,
    origin: 'Orders.take',
  };
  let failure: Error | undefined;
  backend.declare({ exchanges: [], queues: [queue], bindings: [] }).catch((error: Error) => (failure = error));
  await settle();
  const advance = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await settle();
  };
  return { advance, warnings, failure: () => failure };
}

describe('a server that declares no quorum queue', () => {
  it.each<Failure>([
    [
      406,
      `PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'q' in vhost '/': "unsupported queue type 'quorum'"`,
    ],
    [540, 'NOT_IMPLEMENTED - quorum queues'],
  ])('since it has none (%i): the error names queue, handler, reason and remedy', async (code, text) => {
    const { failure, warnings } = await arrange([code, text]);
    expect(failure()).toMatchObject({ name: 'TopologyError', retry: 'never' });
    expect(failure()!.message).toBe(
      `cannot declare queue 'q' (Orders.take): ${text}; the server has no queues of type 'quorum': RabbitMQ has them from 3.8 on; ` +
        "without them set no 'quorum' of queues, no 'clusterTopology', and waitQueueType: 'classic'",
    );
    expect(warnings).toEqual([]);
  });

  it('for an argument that does not go with it: no word of the type', async () => {
    const text =
      "PRECONDITION_FAILED - invalid arg 'x-max-priority' for queue 'q' in vhost '/' of queue type rabbit_quorum_queue";
    expect((await arrange([406, text])).failure()!.message).toBe(`cannot declare queue 'q' (Orders.take): ${text}`);
  });

  it('now, for it has no leader (541): one warning, further attempts, and after declareTimeout an error that names the queue', async () => {
    const { advance, failure, warnings } = await arrange([541, 'INTERNAL_ERROR']);
    expect(warnings).toEqual([
      "queue 'q' (Orders.take) cannot be declared now, and is tried again for 1.0 s: INTERNAL_ERROR",
    ]);
    for (let passed = 0; passed < 900; passed += 50) await advance(50);
    expect(failure()).toBeUndefined();
    for (let passed = 0; passed < 1_000; passed += 50) await advance(50);
    expect(failure()).toMatchObject({ name: 'ServerError', code: 541 });
    expect(failure()!.message).toBe("queue 'q' (Orders.take) cannot be declared now: INTERNAL_ERROR");
    expect(warnings).toHaveLength(1);
  });
});
