import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Circuit,
  Consume,
  customBackend,
  DlxBroker,
  DlxBrokerModule,
  DlxContext,
  Prefetch,
  Quorum,
  Retry,
} from 'dlx-broker';
import { describe, expect, it, vi } from 'vitest';
import type { Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { connectedTo, worldKinds } from './worlds.js';

class BankDown extends Error {
  override readonly name = 'BankDown';
}

const messages = 60;
const prefetch = 5;
const soon = { timeout: 15_000, interval: 20 } as const;

for (const kind of worldKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: circuits on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`a circuit on ${kind.name}`, () => {
    const ends = endsAfterEach();

    async function arrange() {
      const backend: Backend = await connectedTo(kind, ends);
      const bank = { isUp: true, calls: 0 };
      const seen = new Map<number, number[]>();
      const paid: number[] = [];
      @Injectable()
      class Payments {
        @Consume('payments')
        @Quorum({ deliveryLimit: 3 })
        @Retry({ attempts: 2, backoff: '50ms' })
        @Circuit('bank')
        @Prefetch(prefetch)
        async pay(@Payload() { id }: { id: number }, @Ctx() { attempt }: DlxContext): Promise<void> {
          await new Promise((resolve) => setTimeout(resolve, 2));
          if (!bank.isUp) bank.calls++;
          seen.set(id, [...(seen.get(id) ?? []), attempt]);
          if (!bank.isUp) throw new BankDown('no route to the bank');
          paid.push(id);
        }
      }
      const circuits = { bank: { on: BankDown, share: 0.01, atLeast: 1, pause: '100ms' } };
      const module = {
        module: class {},
        imports: [DlxBrokerModule.forRoot({ circuits, broker: customBackend(backend) })],
        providers: [Payments],
      };
      const app: INestApplicationContext = await NestFactory.createApplicationContext(module, {
        logger: false,
        abortOnError: false,
      });
      ends.push(() => app.close());
      const broker = app.get(DlxBroker);
      const kinds: string[] = [];
      broker.events.subscribe((event) => kinds.push(event.kind));
      const count = (wanted: string): number => kinds.filter((each) => each === wanted).length;
      const publish = (id: number): Promise<void> =>
        new Promise((resolve, reject) => {
          const body = Buffer.from(JSON.stringify({ id }));
          const properties = { deliveryMode: 2, contentType: 'application/json' } as const;
          const publication = { exchange: '', routingKey: 'payments', properties, body, mandatory: true };
          backend.publish(publication, (failure) => (failure === undefined ? resolve() : reject(failure)));
        });
      const publishAll = async (from: number, to: number): Promise<void> => {
        for (let id = from; id < to; id++) await publish(id);
      };
      return { backend, broker, bank, seen, paid, count, publishAll };
    }

    it('outlasts an outage: nothing is parked, each message is attempt 1, and the bank is called rarely', async () => {
      const { backend, broker, bank, seen, paid, count, publishAll } = await arrange();
      await publishAll(0, messages / 3);
      await vi.waitFor(() => expect(paid).toHaveLength(messages / 3), soon);
      bank.isUp = false;
      await publishAll(messages / 3, messages);
      // The first failure opens the circuit, and each probe opens it again.
      await vi.waitFor(() => expect(count('opened')).toBeGreaterThan(8), soon);
      const probes = count('probing');
      bank.isUp = true;
      // Behind each cancel a server may have sent what the prefetch allows; the circuit holds it, and no handler gets it.
      expect(bank.calls).toBeLessThanOrEqual(prefetch + probes);
      await vi.waitFor(() => expect(new Set(paid).size).toBe(messages), soon);
      await vi.waitFor(() => expect(broker.handlers.map(({ state }) => state)).toEqual(['running']), soon);
      expect(paid).toHaveLength(messages);
      expect(new Set([...seen.values()].flat())).toEqual(new Set([1]));
      expect(broker.counts).toMatchObject({ parked: 0, retried: 0, rejected: 0 });
      expect(await backend.status('payments.parked')).toMatchObject({ messages: 0 });
      await vi.waitFor(async () => expect(await backend.status('payments')).toMatchObject({ messages: 0 }), soon);
    });

    it('has handlers that pause and go on, and loses nothing between a cancel and its answer', async () => {
      const { backend, broker, paid, publishAll } = await arrange();
      const publishing = publishAll(0, messages);
      for (let turn = 0; turn < 5 && paid.length < messages; turn++) {
        const before = paid.length;
        await vi.waitFor(() => expect(paid.length).toBeGreaterThan(before), soon);
        await broker.handler('Payments.pay').pause('a test');
        await vi.waitFor(async () => expect(await backend.status('payments')).toMatchObject({ consumers: 0 }), soon);
        broker.handler('Payments.pay').resume();
      }
      await publishing;
      await vi.waitFor(() => expect(new Set(paid).size).toBe(messages), soon);
      expect(paid).toHaveLength(messages);
      expect(broker.counts.parked).toBe(0);
    });
  });
}
