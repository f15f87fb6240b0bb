import { Injectable, Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, embedded, queue } from 'dlx-broker';
import type { TransportOptions } from 'dlx-broker/testing';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

let folder: string;
const open: INestApplicationContext[] = [];
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'failed-start-'))));
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const locks = (): readonly string[] => readdirSync(folder).filter((name) => name.endsWith('.lock'));

/** Starts an application with a module of its own beside ours, each time with a new choice of the broker. */
async function start(providers: readonly Type[], options: TransportOptions = {}, imports: readonly Type[] = []) {
  @Module({
    imports: [DlxBrokerModule.forRoot({ broker: embedded({ dataDir: folder }), ...options }), ...imports],
    providers: [...providers],
  })
  class Root {}
  const app = await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  open.push(app);
  return app;
}

const doNothing = (): void => undefined;
const got: unknown[] = [];
beforeEach(() => void got.splice(0));
@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  created(data: unknown): void {
    got.push(data);
  }
}

/** What fails in a module of the application, before which it has published. */
const failures: Readonly<Record<string, (fail: () => Promise<never>) => Type>> = {
  onModuleInit: (fail) => {
    @Injectable()
    class Fails {
      constructor(readonly client: DlxClient) {}
      async onModuleInit(): Promise<void> {
        await lastValueFrom(this.client.emit('order.created', 'early'), { defaultValue: undefined });
        await fail();
      }
    }
    return Fails;
  },
  onApplicationBootstrap: (fail) => {
    @Injectable()
    class Fails {
      constructor(readonly client: DlxClient) {}
      async onApplicationBootstrap(): Promise<void> {
        await lastValueFrom(this.client.emit('order.created', 'early'), { defaultValue: undefined });
        await fail();
      }
    }
    return Fails;
  },
  'a constructor': () => {
    @Injectable()
    class Fails {
      constructor(readonly broker: DlxBroker) {
        throw new Error('no database');
      }
    }
    return Fails;
  },
};

describe('a start that fails in another module', () => {
  it.each(Object.keys(failures))('by %s: the next one gets the data directory, and what was confirmed', async (how) => {
    const fails = failures[how]!(async () => {
      throw new Error('no database');
    });
    await expect(start([Orders, fails])).rejects.toThrow('no database');
    await start([Orders]);
    const published = how === 'a constructor' ? [] : ['early'];
    await vi.waitFor(() => expect(got).toEqual(published), { timeout: 8_000 });
    expect(locks()).toHaveLength(1);
  });

  it('also in an application that is closed after it, as Nest allows', async () => {
    @Module({
      imports: [DlxBrokerModule.forRoot({ broker: embedded({ dataDir: folder }) })],
      providers: [
        failures['onModuleInit']!(async () => {
          throw new Error('no database');
        }),
      ],
    })
    class Root {}
    const app = await NestFactory.create(Root, { logger: false, abortOnError: false });
    await expect(app.init()).rejects.toThrow('no database');
    await app.close();
    expect(locks()).toEqual([]);
  });
});

describe('a start that fails by itself', () => {
  it('as a queue exists with other arguments: leaves nothing open', async () => {
    const other = (maxLength: number) => ({ topology: { queues: [queue('work', { maxLength })] } });
    await (await start([], other(1))).close();
    await expect(start([], other(2))).rejects.toThrow(/work/);
    expect(locks()).toEqual([]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['fails', () => Promise.reject(new Error('no vault')), /no vault/],
    ['throws', () => { throw new Error('no vault'); }, /no vault/], // prettier-ignore
    ['answers nothing', () => undefined, /undefined/],
    ['answers nonsense', () => ({ broker: embedded({ dataDir: folder }), prefech: 1 }), /did you mean 'prefetch'/],
  ])('as the factory of forRootAsync %s: clearly, and nothing is left open', async (_, useFactory, text) => {
    const rootOf = (factory: () => unknown): Type => {
      @Module({ imports: [DlxBrokerModule.forRootAsync({ useFactory: factory as never })], providers: [Orders] })
      class Root {}
      return Root;
    };
    const quiet = { logger: false as const, abortOnError: false };
    await expect(NestFactory.createApplicationContext(rootOf(useFactory), quiet)).rejects.toThrow(text);
    expect(locks()).toEqual([]);
    const root = rootOf(() => ({ broker: embedded({ dataDir: folder }) }));
    open.push(await NestFactory.createApplicationContext(root, quiet));
  });
});

describe('two applications of one directory', () => {
  it('the second is refused at once when the first is up, which goes on', async () => {
    const first = await start([Orders]);
    // A second one that waited for the first would wait for ever.
    await expect(start([Orders])).rejects.toThrow(/option 'dataDir' of embedded\(\): .*in use by this very process/);
    first.get(DlxClient).emit('order.created', 'still');
    await vi.waitFor(() => expect(got).toEqual(['still']), { timeout: 8_000 });
  });

  it('the second waits for the first while that is being closed', async () => {
    const first = await start([Orders]);
    const closing = first.close();
    await start([Orders]);
    await closing;
  });

  it('the second gets it when a hook of the shutdown of the first hangs', async () => {
    @Injectable()
    class Fails {
      beforeApplicationShutdown(): Promise<void> {
        return new Promise(() => undefined);
      }
    }
    const first = await start([Orders, Fails]);
    open.pop();
    void first.close();
    await start([Orders]);
    expect(locks()).toHaveLength(1);
  });

  it('one whose start hangs loses it to the next, and fails with this reason when it goes on', async () => {
    let goOn = doNothing;
    const hangs = failures['onModuleInit']!(() => new Promise<never>((resolve) => (goOn = resolve as () => void)));
    const first = start([Orders, hangs]);
    const lost = expect(first).rejects.toThrow(/another application of this process has .*failed-start-/);
    await vi.waitFor(() => expect(goOn).not.toBe(doNothing), { timeout: 8_000 });
    await start([Orders]);
    goOn();
    await lost;
    await vi.waitFor(() => expect(got).toEqual(['early']), { timeout: 8_000 });
    expect(locks()).toHaveLength(1);
  });
});
