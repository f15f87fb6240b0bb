import { Controller, Injectable, Scope, type Type } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { Consume, DeadLetters, DlxBroker, DlxClient, DlxContext, Drop, Idempotent, Queue, Retry } from 'dlx-broker';
import { lastValueFrom, of } from 'rxjs';
import { setImmediate as soon } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { contextApp, microservice } from './apps.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Contexts and payloads of every hundredth message, held by nothing but this. */
class Samples {
  readonly #all: WeakRef<object>[] = [];
  #count = 0;

  readonly see = (data: object, context: DlxContext): void => {
    if (this.#count++ % 100 === 0) this.#all.push(new WeakRef(data), new WeakRef(context));
  };

  get count(): number {
    return this.#count;
  }

  get taken(): number {
    return this.#all.length;
  }

  async alive(): Promise<number> {
    for (let turn = 0; turn < 3; turn++) await soon();
    collect();
    return this.#all.filter((sample) => sample.deref() !== undefined).length;
  }
}

type See = Samples['see'];

const handlers: Readonly<Record<string, (see: See) => Type>> = {
  '@Consume': (see) => {
    @Injectable()
    class Work {
      @Consume({ queue: 'work', routingKey: 'work' })
      handle(@Payload() data: object, @Ctx() context: DlxContext): void {
        see(data, context);
      }
    }
    return Work;
  },
  'an asynchronous @Consume that looks at everything': (see) => {
    @Injectable()
    class Work {
      @Consume({ queue: 'work', routingKey: 'work' })
      @Retry({ attempts: 3, timeout: '1h' })
      async handle(@Payload() data: object, @Ctx() context: DlxContext): Promise<void> {
        see(data, context);
        context.signal.addEventListener('abort', () => see(data, context));
        if (context.headers['x'] !== undefined || context.deaths.length > 0) throw new Error('never');
        await soon();
      }
    }
    return Work;
  },
  '@Consume that drops': (see) => {
    @Injectable()
    class Work {
      @Consume({ queue: 'work', routingKey: 'work' })
      @Retry({ attempts: 3 })
      handle(@Payload() data: object, @Ctx() context: DlxContext): void {
        see(data, context);
        throw new Drop();
      }
    }
    return Work;
  },
  '@Idempotent': (see) => {
    @Injectable()
    class Work {
      @Consume({ queue: 'work', routingKey: 'work' })
      @Idempotent({ ttl: 1 })
      handle(@Payload() data: object, @Ctx() context: DlxContext): void {
        see(data, context);
      }
    }
    return Work;
  },
  'a provider for each message': (see) => {
    @Injectable({ scope: Scope.REQUEST })
    class Work {
      @Consume({ queue: 'work', routingKey: 'work' })
      handle(@Payload() data: object, @Ctx() context: DlxContext): void {
        see(data, context);
      }
    }
    return Work;
  },
  '@EventPattern': (see) => {
    @Controller()
    class Work {
      @EventPattern<string>('work')
      @Queue('work')
      handle(@Payload() data: object, @Ctx() context: DlxContext): void {
        see(data, context);
      }
    }
    return Work;
  },
};

/** Publishes in waves, each of which is handled before the next. */
async function publish(client: DlxClient, samples: Samples, amount: number): Promise<void> {
  const until = samples.count + amount;
  for (let next = samples.count; next < until;) {
    for (let burst = 0; burst < 500; burst++) client.emit('work', { id: next++, text: 'a text that is not short' });
    while (samples.count < next) await soon();
  }
}

describe('nothing of a message is kept when it is done with', () => {
  it.each(Object.entries(handlers))('%s', { timeout: 60_000 }, async (name, make) => {
    const amount = name === '@Consume' ? 100_000 : 25_000;
    const samples = new Samples();
    const handler = make(samples.see);
    const app = await (name === '@EventPattern'
      ? microservice({ controllers: [handler] })
      : contextApp({ providers: [handler] }));
    const client = app.get(DlxClient);
    await client.connect();
    await publish(client, samples, amount / 5);
    collect();
    const before = process.memoryUsage().heapUsed;
    await publish(client, samples, amount * 0.8);
    // The last messages may still stand on the stack, or in what is cached for one message.
    expect([samples.taken, (await samples.alive()) <= 10]).toEqual([amount / 50, true]);
    // Fifty bytes kept of each of 80,000 messages.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000);
  });

  it('requests and their answers, and letters of a stream', { timeout: 60_000 }, async () => {
    const samples = new Samples();
    @Controller()
    class Sum {
      @MessagePattern('sum')
      sum(@Payload() data: object, @Ctx() context: DlxContext) {
        samples.see(data, context);
        return samples.count % 2 === 0 ? data : of(1, data);
      }
    }
    const app = await microservice({ controllers: [Sum] });
    const client = app.get(DlxClient);
    const { backend } = app.get(DlxBroker);
    const answers: WeakRef<object>[] = [];
    const ask = async (amount: number): Promise<void> => {
      for (let round = 0; round < amount / 100; round++) {
        const asked = Array.from({ length: 100 }, (_, id) => lastValueFrom(client.send<object>('sum', { id })));
        const got = await Promise.all(asked);
        answers.push(new WeakRef(got[0]!));
      }
    };
    const letters: WeakRef<object>[] = [];
    let seen = 0;
    const lying = { durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
    await backend.declare({ exchanges: [], bindings: [], queues: [{ ...lying, name: 'dead' }] });
    app
      .get(DeadLetters)
      .from('dead')
      .subscribe((letter) => {
        if (seen++ % 100 === 0) letters.push(new WeakRef(letter), new WeakRef(letter.headers));
        letter.ack();
      });
    const die = async (amount: number): Promise<void> => {
      const until = seen + amount;
      for (let count = 0; count < amount; count++) {
        backend.publish({ exchange: '', routingKey: 'dead', properties: {}, body: Buffer.from('{"id":1}') });
        if (count % 500 === 0) await soon();
      }
      while (seen < until) await soon();
    };
    await ask(1_000);
    await die(10_000);
    collect();
    const before = process.memoryUsage().heapUsed;
    await ask(5_000);
    await die(40_000);
    expect([seen, letters.length, answers.length]).toEqual([50_000, 1_000, 60]);
    expect(await samples.alive()).toBeLessThanOrEqual(10);
    const alive = [...letters, ...answers].filter((sample) => sample.deref() !== undefined);
    expect(alive.length).toBeLessThanOrEqual(10);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000);
  });

  it('requests that were answered, before the tick ends in which they were made', async () => {
    const amount = 200;
    let collected = 0;
    // No WeakRef: that itself keeps its object until the end of the tick.
    const registry = new FinalizationRegistry(() => void collected++);
    @Controller()
    class Echo {
      @MessagePattern('echo')
      echo(@Payload() data: object, @Ctx() context: DlxContext): object {
        registry.register(data, undefined);
        registry.register(context, undefined);
        return data;
      }
    }
    const app = await microservice({ controllers: [Echo] });
    const client = app.get(DlxClient);
    await client.connect();
    await soon();
    let isOver = false;
    process.nextTick(() => (isOver = true));
    for (let id = 0; id < amount; id++) await lastValueFrom(client.send<object>('echo', { id }));
    const wasOneTick = !isOver;
    collect();
    for (let turn = 0; turn < 10; turn++) await soon();
    expect(wasOneTick).toBe(true);
    expect(collected).toBeGreaterThan(amount * 2 - 20);
  });
});
