import { Injectable, Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DeadLetters, DlxBroker, DlxBrokerModule, DlxClient, embedded, queue, Redrives } from 'dlx-broker';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as soon } from 'node:timers/promises';
import { lastValueFrom, mergeMap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'closing-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const amount = 400;
const numbers = Array.from({ length: amount }, (_, index) => index);
const queues = [queue('orders'), queue('dead'), queue('work')];
const exchanges = [{ name: 'dlx.events', type: 'topic' }] as const;
const bindings = [{ source: 'dlx.events', destination: 'orders', routingKey: 'order.created' }];

async function start(providers: readonly Type[] = []): Promise<INestApplicationContext> {
  const broker = embedded({ dataDir: folder });
  @Module({
    imports: [DlxBrokerModule.forRoot({ broker, topology: { exchanges, queues, bindings } })],
    providers: [...providers],
  })
  class Root {}
  return NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
}

/** What lies in a queue, by the numbers in the bodies. */
async function lying(app: INestApplicationContext, name: string): Promise<readonly number[]> {
  const { messages } = await app.get(DlxBroker).backend.browsing!.browse(name, 10_000);
  return messages.map(({ body }) => Number(Buffer.from(body).toString()));
}

/** How each of many promises ended. None may hang. */
async function ends(promises: readonly Promise<unknown>[]): Promise<readonly boolean[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map(({ status }) => status === 'fulfilled');
}

describe.each([0, 1, 3])('an application that is closed after %i turns', (turns) => {
  const wait = async (): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) await soon();
  };

  it('in the middle of a commit keeps what it confirmed, and answers every publish', async () => {
    const app = await start();
    const client = app.get(DlxClient);
    await client.connect();
    const emitted = numbers.map((id) => lastValueFrom(client.emit('order.created', id), { defaultValue: undefined }));
    const outcomes = ends(emitted);
    await wait();
    await app.close();
    const confirmed = await outcomes;
    const again = await start();
    const there = new Set(await lying(again, 'orders'));
    expect(numbers.filter((id) => confirmed[id] && !there.has(id))).toEqual([]);
    await again.close();
  });

  it('in the middle of delayed publishes keeps those that it confirmed, and each arrives once', async () => {
    const app = await start();
    const client = app.get(DlxClient);
    await client.connect();
    const emitted = numbers.map((id) =>
      lastValueFrom(client.emit('order.created', id, { delay: 5 + (id % 40) }), { defaultValue: undefined }),
    );
    const outcomes = ends(emitted);
    await wait();
    await app.close();
    const confirmed = await outcomes;
    const again = await start();
    await vi.waitFor(
      async () => {
        const there = await lying(again, 'orders');
        expect(numbers.filter((id) => confirmed[id] && !there.includes(id))).toEqual([]);
      },
      { timeout: 8_000 },
    );
    const there = await lying(again, 'orders');
    expect(new Set(there).size).toBe(there.length);
    await again.close();
  });

  it('in the middle of a stream leaves each letter in one place, and every redrive is answered', async () => {
    const app = await start();
    const { backend } = app.get(DlxBroker);
    const properties = { deliveryMode: 2 };
    for (const id of numbers)
      backend.publish({ exchange: '', routingKey: 'dead', properties, body: Buffer.from(`${id}`) });
    const redriven: Promise<void>[] = [];
    let completed = false;
    app
      .get(DeadLetters)
      .from('dead', { prefetch: 50 })
      .pipe(
        mergeMap((letter) => {
          const done = letter.redrive('work');
          redriven.push(done);
          return done.catch(() => undefined);
        }),
      )
      .subscribe({ complete: () => (completed = true) });
    await wait();
    await app.close();
    const taken = (await ends(redriven)).filter(Boolean).length;
    expect(completed).toBe(true);
    const again = await start();
    const [dead, work] = [await lying(again, 'dead'), await lying(again, 'work')];
    expect([...dead, ...work].sort((one, other) => one - other)).toEqual(numbers);
    expect(work.length).toBeGreaterThanOrEqual(taken);
    await again.close();
  });

  it('in the middle of a redrive stops it, and leaves each letter in one place', async () => {
    const app = await start();
    const { backend } = app.get(DlxBroker);
    const properties = { deliveryMode: 2 };
    for (const id of numbers)
      backend.publish({ exchange: '', routingKey: 'dead', properties, body: Buffer.from(`${id}`) });
    const task = app.get(Redrives).start({ from: 'dead', to: 'work', perSecond: Infinity, circuit: false });
    await wait();
    await app.close();
    const { redriven } = await task.ended;
    const again = await start();
    const [dead, work] = [await lying(again, 'dead'), await lying(again, 'work')];
    expect([...dead, ...work].sort((one, other) => one - other)).toEqual(numbers);
    expect(work.length).toBeGreaterThanOrEqual(redriven);
    await again.close();
  });

  it('in the middle of handlers loses no message, and handles none twice that was acked', async () => {
    const ended = new Set<number>();
    @Injectable()
    class Orders {
      @Consume('work')
      async handle(@Payload() id: number): Promise<void> {
        await soon();
        ended.add(id);
      }
    }
    const app = await start([Orders]);
    const { backend } = app.get(DlxBroker);
    const kept: Promise<unknown>[] = [];
    for (const id of numbers) {
      const publication = {
        exchange: '',
        routingKey: 'work',
        properties: { deliveryMode: 2 },
        body: Buffer.from(`${id}`),
      };
      kept.push(
        new Promise<void>((resolve, reject) =>
          backend.publish(publication, (failure) => (failure === undefined ? resolve() : reject(failure))),
        ),
      );
    }
    const outcomes = ends(kept);
    await wait();
    await app.close();
    const confirmed = await outcomes;
    const again = await start();
    const there = await lying(again, 'work');
    expect(there.filter((id) => ended.has(id))).toEqual([]);
    expect(numbers.filter((id) => confirmed[id] && !ended.has(id) && !there.includes(id))).toEqual([]);
    await again.close();
  });
});
