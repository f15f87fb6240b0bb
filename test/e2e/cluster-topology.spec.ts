import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import {
  Consume,
  DlxBrokerModule,
  DlxContext,
  MaxPriority,
  QueueArguments,
  Retry,
  sharedBroker,
  type DlxBrokerOptions,
} from 'dlx-broker';
import { harness, type Harness } from 'dlx-broker/testing';
import { setImmediate as soon } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { declaredArguments } from '../harnesses/declared-arguments.js';
import { noDeliveryLimit } from '../../libs/dlx-broker/src/backends/topology/index.js';

const open: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

async function deploy({ broker }: Harness, clusterTopology: DlxBrokerOptions['clusterTopology']) {
  const attempts: number[] = [];
  @Injectable()
  class Worker {
    @Consume('work')
    @Retry({ attempts: 2, backoff: { type: 'fixed', delay: '5s' } })
    handle(@Ctx() { attempt }: DlxContext): void {
      attempts.push(attempt);
      throw new Error('down');
    }

    @Consume('urgent')
    @MaxPriority(5)
    hurry(): void {}

    @Consume('local')
    @QueueArguments({ 'x-queue-type': 'classic' })
    stay(): void {}
  }
  const warnings: string[] = [];
  const silent = (): void => undefined;
  const logger = { log: silent, error: silent, warn: (text: unknown) => void warnings.push(String(text)) };
  const imports = [DlxBrokerModule.forRoot({ broker: sharedBroker(broker), clusterTopology, logFailures: 'none' })];
  const module = { module: class {}, imports, providers: [Worker] };
  open.push(await NestFactory.createApplicationContext(module, { logger, abortOnError: false }));
  return { attempts, warnings };
}

const argumentsOf = ({ broker }: Harness, queue: string): unknown => declaredArguments(broker, queue);

describe('option clusterTopology', () => {
  it('rule M1: makes quorum queues that lose no dead letter, and retries over wait queues without a lease', async () => {
    const world = harness();
    const { attempts, warnings } = await deploy(world, { deliveryLimit: 30 });
    expect(argumentsOf(world, 'work')).toEqual({
      'x-queue-type': 'quorum',
      'x-dead-letter-exchange': 'wait.keep.5000',
      'x-dead-letter-routing-key': 'work',
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
      'x-delivery-limit': 30,
    });
    const unlimited = { 'x-queue-type': 'quorum', 'x-delivery-limit': noDeliveryLimit };
    expect(argumentsOf(world, 'work.parked')).toEqual(unlimited);
    expect(argumentsOf(world, 'wait.keep.86400000')).toMatchObject({ 'x-dead-letter-strategy': 'at-least-once' });
    expect(argumentsOf(world, 'urgent')).toEqual(unlimited);
    expect(argumentsOf(world, 'local')).toEqual({});
    expect(warnings.filter((line) => line.includes('x-max-priority'))).toEqual([
      expect.stringMatching(/^queue 'urgent' \(.*\) loses x-max-priority$/),
    ]);
    const properties = { deliveryMode: 2 as const };
    world.backend.publish({ exchange: '', routingKey: 'work', properties, body: Buffer.from('{}') });
    for (const pause of [4_999, 1, 0]) {
      for (let turn = 0; turn < 5; turn++) await soon();
      expect(attempts).toEqual(pause === 0 ? [1, 2] : [1]);
      world.clock.advance(pause);
    }
    expect(world.broker.virtualHost('/').queues.get('work.parked')?.length).toBe(1);
  });

  it('changes nothing where it is false', async () => {
    const world = harness();
    await deploy(world, false);
    expect(argumentsOf(world, 'urgent')).toEqual({ 'x-max-priority': 5 });
    expect(world.broker.virtualHost('/').queues.has('wait.5000')).toBe(true);
  });
});
