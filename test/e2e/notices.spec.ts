import { Injectable, Logger, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DeadLetters, type DeathNotice, DlxBroker, DlxContext, Park, Retry } from 'dlx-broker';
import { parkWhen } from 'dlx-broker/streams';
import { longstr, silentOutbox } from 'dlx-broker/engine';
import { describe, expect, it, vi } from 'vitest';
import type { EmbeddedBackend } from '../../libs/dlx-broker/src/backends/index.js';

import { contextApp } from './apps.js';
import { isEmbedded, missing, until } from './places.js';

@Injectable()
class Worker {
  @Consume('work')
  @Retry({ attempts: 2, immediate: 1 })
  work(): never {
    throw new RangeError('no stock of 17');
  }
}

@Injectable()
class Alerts {
  readonly notices: DeathNotice[] = [];
  readonly contexts: DlxContext[] = [];

  @Consume({ queue: 'alerts', exchange: 'dlx.notices', routingKey: 'parked.#' })
  alert(@Payload() notice: DeathNotice, @Ctx() context: DlxContext): void {
    this.notices.push(notice);
    this.contexts.push(context);
  }
}

const options = { notices: 'dlx.notices' } as const;

async function start(...providers: Type[]) {
  const app = await contextApp({ providers, options });
  const { backend } = app.get(DlxBroker);
  const publish = (id: string, queue = 'work') =>
    new Promise<void>((resolve, reject) =>
      backend.publish(
        {
          exchange: '',
          routingKey: queue,
          properties: { messageId: id, deliveryMode: 2 },
          body: Buffer.from('{"card":4711}'),
          mandatory: true,
        },
        (failure) => (failure === undefined ? resolve() : reject(failure)),
      ),
    );
  const lengthOf = async (queue: string) => (await backend.status(queue))?.messages;
  return { app, backend, publish, lengthOf };
}

describe.skipIf(missing !== undefined)('notices of parked messages', () => {
  it('have facts, and nothing of the body', async () => {
    const { app, publish, lengthOf } = await start(Worker, Alerts);
    await publish('7');
    const { notices, contexts } = app.get(Alerts);
    await until(() => expect(notices).toHaveLength(1));
    const [notice] = notices as [DeathNotice];
    expect(notice).toMatchObject({
      kind: 'parked',
      queue: 'work',
      lot: 'work.parked',
      attempt: 2,
      redrives: 0,
      messageId: '7',
      exchange: '',
      routingKey: 'work',
      handler: 'Worker.work',
      error: { name: 'RangeError', message: 'no stock of 17' },
      bodyBytes: 13,
    });
    expect([typeof notice.at, typeof notice.failingSince]).toEqual(['number', 'number']);
    expect(notice.fingerprint).toMatch(/^1:[0-9a-f]{16}$/);
    expect(JSON.stringify(notice)).not.toContain('4711');
    expect(contexts[0]?.routingKey).toBe('parked.work');
    await until(async () => expect(await lengthOf('work.parked')).toBe(1));
  });

  it('are sent where no queue is bound, to no effect, and nothing fails', async () => {
    const { publish, lengthOf, app } = await start(Worker);
    await publish('7');
    await until(async () => expect(await lengthOf('work.parked')).toBe(1));
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ parked: 1 }));
  });

  it('that are parked themselves have no notice, and do not go round', async () => {
    @Injectable()
    class Broken {
      calls = 0;
      @Consume({ queue: 'alerts', exchange: 'dlx.notices', routingKey: '#' })
      @Retry({ attempts: 2, immediate: 1 })
      alert(): never {
        this.calls++;
        throw new Error('no mail');
      }
    }
    const { app, publish, lengthOf } = await start(Worker, Broken);
    for (const id of ['1', '2', '3']) await publish(id);
    await until(async () => expect(await lengthOf('alerts.parked')).toBe(3));
    expect([app.get(Broken).calls, await lengthOf('alerts')]).toEqual([6, 0]);
  });

  it.skipIf(!isEmbedded)(
    'are sent of a message that claims to be a notice in headers, where origins are recorded',
    async () => {
      const { app, backend } = await start(Worker, Alerts);
      const headers = new Map([
        ['dlx-queue', longstr('work')],
        ['dlx-first-exchange', longstr('dlx.notices')],
        ['dlx-first-routing-key', longstr('parked.work')],
      ]);
      backend.publish({ exchange: '', routingKey: 'work', properties: { headers }, body: Buffer.from('{}') });
      await until(() => expect(app.get(Alerts).notices).toHaveLength(1));
    },
  );

  it('are sent of letters that a stream parks, too', async () => {
    @Injectable()
    class Puts {
      @Consume('put')
      put(): never {
        throw new Park('aside');
      }
    }
    const { app, publish } = await start(Puts, Alerts);
    await publish('7', 'put');
    const { notices } = app.get(Alerts);
    await until(() => expect(notices).toHaveLength(1));
    const parking = app
      .get(DeadLetters)
      .from('put.parked')
      .pipe(parkWhen(() => true, 'again'))
      .subscribe();
    await until(() =>
      expect(notices.map(({ lot, queue }) => [lot, queue])).toEqual([
        ['put.parked', 'put'],
        ['again', 'put'],
      ]),
    );
    parking.unsubscribe();
  });

  it.runIf(isEmbedded)(
    'are left out when their exchange is gone: the messages are parked, and the log says so once',
    async () => {
      const { backend, publish, lengthOf } = await start(Worker);
      (backend as EmbeddedBackend).broker.connect().openChannel(silentOutbox).deleteExchange('dlx.notices');
      const warn = vi.spyOn(Logger.prototype, 'warn');
      await publish('7');
      await publish('8');
      await until(async () => expect(await lengthOf('work.parked')).toBe(2));
      const lines = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('notice'));
      warn.mockRestore();
      expect(lines).toEqual([
        expect.stringMatching(/^a message of 'work' was parked without its notice: .*dlx\.notices/),
      ]);
    },
  );
});
