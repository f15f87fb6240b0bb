import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, DlxRecordBuilder, customBackend } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { worldKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';

for (const kind of worldKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: delayed events on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`delayed events on ${kind.name}`, () => {
    const ends = endsAfterEach();

    async function arrange() {
      const world = await kind.open();
      ends.push(() => world.close());
      await world.backend.connect();
      const came: { id: string; at: number; key: string; origin: unknown }[] = [];

      @Injectable()
      class Reminders {
        @Consume({ queue: 'reminders', routingKey: 'reminder.*' })
        remind(@Ctx() { properties, message }: DlxContext): void {
          const origin = message.properties.headers?.get('dlx-first-exchange')?.value;
          came.push({ id: properties.messageId ?? '', at: performance.now(), key: message.routingKey, origin });
        }
      }

      const imports = [DlxBrokerModule.forRoot({ broker: customBackend(world.backend) })];
      const app = await NestFactory.createApplicationContext(
        { module: class {}, imports, providers: [Reminders] },
        { logger: false, abortOnError: false },
      );
      ends.push(() => app.close());
      return { client: app.get(DlxClient), came, backend: world.backend };
    }

    it('come in the order of their delays, none early', async () => {
      const { client, came } = await arrange();
      const start = performance.now();
      const delays = [400, 100, 250, 0];
      await Promise.all(
        delays.map(
          (delay) =>
            new Promise<void>((resolve, reject) =>
              client
                .emit('reminder.mail', {}, { delay, messageId: `${delay}` })
                .subscribe({ complete: resolve, error: reject }),
            ),
        ),
      );
      await expect.poll(() => came.length, { timeout: 10_000, interval: 5 }).toBe(4);
      expect(came.map(({ id }) => id)).toEqual(['0', '100', '250', '400']);
      // Clocks of two processes and their rounding: a millisecond each.
      for (const { id, at } of came) expect(at - start).toBeGreaterThanOrEqual(Number(id) - 2);
      expect(came.every(({ key }) => key === 'reminder.mail')).toBe(true);
      expect(came.slice(1).every(({ origin }) => origin === 'dlx.events')).toBe(true);
    });

    it('go to a queue by the default exchange', async () => {
      const { client, came } = await arrange();
      client.emit('reminders', new DlxRecordBuilder({}).setExchange('').setDelay(50).setMessageId('one').build());
      await expect.poll(() => came.map(({ id }) => id), { timeout: 10_000, interval: 5 }).toEqual(['one']);
    });

    it('are taken back, or the error says that they cannot be', async () => {
      const { client, came, backend } = await arrange();
      client.emit('reminder.mail', {}, { delay: 1_000, messageId: 'one' });
      client.emit('reminder.mail', {}, { delay: 1_100, messageId: 'two' });
      const cancelled = await client.cancelDelayed('one').catch((error: Error) => error.message);
      const isExact = backend.delayed !== undefined;
      expect(isExact).toBe(kind.name === 'embedded' || kind.name.includes('serve'));
      if (isExact) expect(cancelled).toBe(1);
      else expect(cancelled).toMatch(/^RabbitMQ \d+(\.\d+)+ cannot take back delayed messages/);
      await expect.poll(() => came.map(({ id }) => id), { timeout: 10_000, interval: 5 }).toContain('two');
      expect(came.map(({ id }) => id)).toEqual(isExact ? ['two'] : ['one', 'two']);
    });
  });
}
