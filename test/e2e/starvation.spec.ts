import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DeadLetter, DlxBrokerModule, DlxClient } from 'dlx-broker';
import { describe, expect, it } from 'vitest';

describe('a circle of rejects that never waits', () => {
  it('leaves timers and shutdown their turn, though every step of it is a microtask', async () => {
    let rounds = 0;

    @Injectable()
    class Circle {
      @Consume({ queue: 'work', routingKey: 'work' })
      @DeadLetter('', 'work')
      handle(): void {
        rounds++;
        throw new Error('never');
      }
    }

    @Module({ imports: [DlxBrokerModule.forRoot({ drainTimeout: 100 })], providers: [Circle] })
    class Circling {}

    const app = await NestFactory.createApplicationContext(Circling, { logger: false });
    app.get(DlxClient).emit('work', {});
    // Not a measure of time: a host that never gets its turn would not get to either of these.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    await app.close();
    const atTheEnd = rounds;
    await new Promise((resolve) => setImmediate(resolve));
    expect(atTheEnd).toBeGreaterThan(100);
    expect(rounds).toBe(atTheEnd);
  });
});
