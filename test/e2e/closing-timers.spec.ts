import { Controller, Injectable } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import {
  Circuit,
  Consume,
  DlxClient,
  DlxServer,
  event,
  getDlxToken,
  On,
  Queue,
  queue,
  Retry,
  type StandardSchema,
  Unavailable,
} from 'dlx-broker';
import { DlxTesting, type TransportOptions } from 'dlx-broker/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { schemaBy } from '../harnesses/schemas.js';
import { classOf } from '../harnesses/class-of.js';

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

const start = async (metadata: Parameters<DlxTesting['start']>[0], options: TransportOptions = {}) => {
  const dlx = new DlxTesting({ logger: false, timeout: 50 });
  opened.push(dlx);
  await dlx.start(metadata, { drainTimeout: 10, ...options });
  return dlx;
};

const hangs = (): Promise<void> => new Promise(() => undefined);
const full = { topology: { queues: [queue('work.parked', { maxLength: 1, overflow: 'reject-publish' })] } };

/** When the clock rings within the next hundred seconds, in milliseconds from now. */
function ringsOf({ clock }: DlxTesting): number[] {
  const rings: number[] = [];
  const began = clock.now();
  for (let next = clock.nextWakeUp(); next !== undefined && next <= began + 100_000; next = clock.nextWakeUp()) {
    rings.push(next - began);
    clock.advanceTo(next);
  }
  return rings;
}

describe('nothing rings after the end of an application', () => {
  it('of a message that could not be republished: its next try is called off', async () => {
    @Injectable()
    class Worker {
      @Consume('work')
      @Retry({ attempts: 1 })
      handle(): void {
        throw new Error('down');
      }
    }
    const dlx = await start({ providers: [Worker] }, full);
    for (const id of [1, 2]) await dlx.publish('work', { id });
    await dlx.advance('3m', { except: ['work'] });
    expect(dlx.queue('work')).toMatchObject({ ready: 0, unacknowledged: 1 });
    await dlx.app.close();
    expect(dlx.queue('work')).toMatchObject({ ready: 1, unacknowledged: 0 });
    expect(dlx.clock.nextWakeUp()).toBeUndefined();
  });

  it('of such a message of a consumer that was paused and resumed since', async () => {
    @Injectable()
    class Worker {
      @Consume('work')
      @Retry({ attempts: 1 })
      handle(): void {
        throw new Error('down');
      }
    }
    const dlx = await start({ providers: [Worker] }, full);
    for (const id of [1, 2]) await dlx.publish('work', { id });
    await dlx.advance('3m', { except: ['work'] });
    await dlx.handler('Worker.handle').pause();
    dlx.handler('Worker.handle').resume();
    expect([dlx.queue('work').ready, dlx.queue('work').unacknowledged]).toEqual([0, 1]);
    await dlx.app.close();
    expect([dlx.queue('work').ready, dlx.clock.nextWakeUp()]).toEqual([1, undefined]);
  });

  it('of an attempt that is limited: its timeout is called off', async () => {
    @Injectable()
    class Worker {
      @Consume('work')
      @Retry({ attempts: 2, timeout: 61_500 })
      handle(): Promise<void> {
        return hangs();
      }
    }
    const dlx = await start({ providers: [Worker] });
    await dlx.publish('work', {});
    await dlx.app.close();
    expect(dlx.queue('work')).toMatchObject({ ready: 1, unacknowledged: 0 });
    expect(ringsOf(dlx)).toEqual([]);
  });

  it('of a server that is closed before its application: only its own timers are called off', async () => {
    @Controller()
    class Orders {
      @EventPattern<string>('orders')
      @Queue('orders')
      @Retry({ attempts: 2, timeout: 61_500 })
      created(): Promise<void> {
        return hangs();
      }
    }
    @Injectable()
    class Worker {
      @Consume('work')
      @Retry({ attempts: 2, timeout: 62_500 })
      handle(): Promise<void> {
        return hangs();
      }
    }
    const dlx = await start({ controllers: [Orders], providers: [Worker] });
    for (const name of ['orders', 'work']) await dlx.publish(name, {});
    await dlx.app.get<DlxServer>(getDlxToken(DlxServer)).close();
    expect(dlx.queue('orders')).toMatchObject({ ready: 1, unacknowledged: 0 });
    expect(dlx.queue('work')).toMatchObject({ ready: 0, unacknowledged: 1 });
    const rings = ringsOf(dlx);
    expect(rings).not.toContain(61_500);
    expect(rings).toContain(62_500);
    await new Promise(setImmediate);
    expect(ringsOf(dlx)[0]).toBe(1_000); // the attempt that has just ended is retried
    await dlx.app.close();
    expect(ringsOf(dlx)).toEqual([]);
  });
});

describe('nothing that hangs in a function of the application rings after its end', () => {
  const slow: StandardSchema<number> = schemaBy<number>(() => new Promise<never>(() => undefined));
  const work = event('work', { schema: slow, timeout: '20s' });

  it('the probe of a circuit', async () => {
    @Injectable()
    class Bank {
      isUp(): Promise<boolean> {
        return new Promise(() => undefined);
      }
    }
    @Injectable()
    class Payments {
      @Consume('payments')
      @Circuit({ probe: Bank, pause: '1m' })
      pay(): void {
        throw new Unavailable('the bank is away');
      }
    }
    const dlx = await start({ providers: [Payments, Bank] });
    await dlx.publish('payments', {});
    await dlx.settled();
    dlx.clock.advance('61s');
    expect(dlx.clock.nextWakeUp()).toBeDefined();
    await dlx.app.close();
    expect(ringsOf(dlx)).toEqual([]);
  });

  it('the schema of a handler', async () => {
    const Worker = classOf('Worker', { handle: [On(work), Queue('work')] });
    const dlx = await start({ providers: [Worker] });
    await dlx.publish('work', 1);
    await expect.poll(() => dlx.queue('work').unacknowledged).toBe(1);
    await dlx.app.close();
    expect(dlx.queue('work').ready).toBe(1);
    expect(ringsOf(dlx)).toEqual([]);
  });

  it('the schema of an event: its publish fails', async () => {
    const dlx = await start({});
    const failures: string[] = [];
    const client = dlx.app.get(DlxClient);
    client.emit(work, 1).subscribe({ error: ({ message }: Error) => failures.push(message) });
    await expect.poll(() => dlx.clock.nextWakeUp()).toBeDefined();
    await dlx.app.close();
    expect(failures).toEqual(["the schema for the payload of 'work' had not answered when the application closed"]);
    client.emit(work, 2).subscribe({ error: ({ message }: Error) => failures.push(message) });
    await expect.poll(() => failures[1]).toMatch(/the client is closed/);
    expect(ringsOf(dlx)).toEqual([]);
  });
});
