import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { CircuitOptions } from '../features/circuit/index.js';
import { Circuit, Consume, DlxBrokerModule, Outbox, QueueArguments, Ordered, Retry } from '../index.js';

/** The warnings of an application with this handler. */
async function warningsOf(...decorators: readonly MethodDecorator[]): Promise<readonly string[]> {
  class Orders {
    work(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'work')!;
  for (const decorate of [Consume('work'), ...decorators]) decorate(Orders.prototype, 'work', descriptor);
  const warnings: string[] = [];
  const logger = {
    log: (line: string) => log.push(line),
    warn: (line: string) => warnings.push(line),
    error: () => undefined,
  };
  log.splice(0);
  const circuits = { bank: { pause: 30 }, post: { pause: [10, 10_000], within: '500ms' } };
  class Root {}
  const app = await NestFactory.createApplicationContext(
    { module: Root, imports: [DlxBrokerModule.forRoot({ circuits, logHandlers: true })], providers: [Orders] },
    { logger, abortOnError: false },
  );
  await app.close();
  Logger.overrideLogger(false);
  return warnings.filter((line) => line.includes(' is '));
}
const log: string[] = [];

describe('a number below 1000, which is milliseconds', () => {
  it.each<[string, readonly MethodDecorator[]]>([
    [
      "@Retry on Orders.work: parkFor: 90 is 90 ms; write '90s' for seconds, or '90ms' if milliseconds are meant",
      [Retry({ attempts: 3, parkFor: 90 })],
    ],
    [
      "circuit 'bank' of Orders.work: pause: 30 is 30 ms; write '30s' for seconds, or '30ms' if milliseconds are meant",
      [Circuit('bank'), Retry({ attempts: 3 })],
    ],
    [
      "circuit 'Orders.work' of Orders.work: within: 60 is 60 ms; write '60s' for seconds, or '60ms' if milliseconds are meant",
      [Circuit({ within: 60 }), Retry({ attempts: 3 })],
    ],
  ])('is warned of where it makes little sense: %s', async (warning, decorators) => {
    expect(await warningsOf(...decorators)).toEqual([warning]);
  });

  it('is no matter for retries, in a string, and in a list that ends with a long pause', async () => {
    const retry = Retry({ attempts: 3, backoff: 10, parkFor: '90ms' });
    expect(await warningsOf(Circuit('post'), retry)).toEqual([]);
    expect(
      await warningsOf(Circuit({ pause: 1_000 } satisfies CircuitOptions), Retry({ attempts: 3, parkFor: 1_000 })),
    ).toEqual([]);
  });
});

describe('texts', () => {
  it('a policy with one attempt says nothing of retries', async () => {
    await warningsOf(Retry({ attempts: 1 }));
    expect(log.filter((line) => line.startsWith('Orders.work consumes'))).toEqual([
      "Orders.work consumes 'work'; 1 attempt, then 'work.parked'",
    ]);
  });

  it.each<[readonly MethodDecorator[], string]>([
    [
      [Circuit('bnak'), Retry({ attempts: 3 })],
      "@Circuit on Orders.work: the option 'circuits' has no 'bnak'; did you mean 'bank'?",
    ],
    [
      [Circuit('mail'), Retry({ attempts: 3 })],
      "@Circuit on Orders.work: the option 'circuits' has no 'mail' (it has 'bank', 'post'); write forRoot({ circuits: { 'mail': {} } })",
    ],
    [[Outbox({ messages: 0 })], "option 'messages' of @Outbox on Orders.work: 0 is less than 1"],
    [
      [Ordered({ key: () => 'k' }), QueueArguments({ 'x-consumer-timeout': -1 })],
      "@QueueArguments on Orders.work: 'x-consumer-timeout': -1 is no number of milliseconds above 0; write 1_800_000 for half an hour, or leave it out",
    ],
  ])('of a mistake: %#', async (decorators, text) => {
    await expect(warningsOf(...decorators)).rejects.toThrow(text);
  });
});
