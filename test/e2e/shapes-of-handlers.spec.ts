import {
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  createParamDecorator,
  type ExceptionFilter,
  Inject,
  Injectable,
  type NestInterceptor,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  ContextIdFactory,
  REQUEST,
  type ContextId,
  type ContextIdStrategy,
  type HostComponentInfo,
} from '@nestjs/core';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxClient, DlxContext, Retry, Queue } from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { lastValueFrom, map, Observable, throwError, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makesInstancesInOrder } from './nest.js';
import { classOf } from '../harnesses/class-of.js';

const opened: DlxTesting[] = [];
const seen: string[] = [];
beforeEach(() => void seen.splice(0));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

async function start(metadata: Parameters<DlxTesting['start']>[0], warnings: string[] = []): Promise<DlxTesting> {
  const logger = {
    log: () => undefined,
    warn: (text: unknown) => void warnings.push(String(text)),
    error: (text: unknown) => void warnings.push(String(text)),
  };
  const dlx = new DlxTesting({ logger });
  opened.push(dlx);
  await dlx.start(metadata);
  return dlx;
}

const created = Symbol('created');

describe('a method whose name is a symbol', () => {
  it('is a handler by @Consume, with its name in the log and in errors', async () => {
    @Injectable()
    class Orders {
      @Consume('orders')
      @Retry({ attempts: 1 })
      [created](@Payload() data: string): void {
        seen.push(data);
        throw new Error('down');
      }
    }
    const warnings: string[] = [];
    const dlx = await start({ providers: [Orders] }, warnings);
    await dlx.publish('orders', 'a');
    await dlx.settled();
    expect(seen).toEqual(['a']);
    expect(warnings.join('\n')).toContain('Orders.Symbol(created)');
    dlx.expectQueue('orders.parked').toHold(['a']);
  });

  it('also in a provider of its own for each message', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Orders {
      constructor(@Inject(REQUEST) readonly request: { readonly data: string }) {}

      @Consume('orders')
      [created](@Payload() data: string): void {
        seen.push(`${data} ${this.request.data}`);
      }
    }
    const dlx = await start({ providers: [Orders] });
    await dlx.publish('orders', 'a');
    await dlx.settled();
    expect(seen).toEqual(['a a']);
  });

  it('and decorators beside no entry point are refused there as elsewhere', async () => {
    @Injectable()
    class Orders {
      @DeadLetter('', 'dead')
      [created](): void {}
    }
    await expect(start({ providers: [Orders] })).rejects.toThrow(
      /@DeadLetter on Orders.Symbol\(created\) needs @Consume/,
    );
    const Parcels = classOf('Parcels', { created: [DeadLetter('', 'dead'), Retry({ attempts: 2 })] });
    await expect(start({ providers: [Parcels] })).rejects.toThrow(/@\w+, @\w+ on Parcels.created need @Consume/);
  });
});

abstract class Worker {
  abstract readonly name: string;

  @Consume('work')
  @Retry({ attempts: 2, backoff: '1s' })
  handle(@Payload() data: string, @Ctx() { attempt }: DlxContext): void {
    seen.push(`${this.name} ${data} ${attempt}`);
    throw new Error('down');
  }
}

describe('a method that is inherited', () => {
  it('from an abstract class is a handler of the class that is provided, with its decorators', async () => {
    @Injectable()
    class Orders extends Worker {
      override readonly name = 'Orders';
    }
    const dlx = await start({ providers: [Orders] });
    await dlx.publish('work', 'a');
    await dlx.advance('2s');
    expect(seen).toEqual(['Orders a 1', 'Orders a 2']);
    dlx.expectQueue('work.parked').toHold(['a']);
  });

  it('by two classes that are provided would have two handlers of one queue: refused, with both names', async () => {
    @Injectable()
    class Orders extends Worker {
      override readonly name = 'Orders';
    }
    @Injectable()
    class Invoices extends Worker {
      override readonly name = 'Invoices';
    }
    await expect(start({ providers: [Orders, Invoices] })).rejects.toThrow(/Orders\.handle.*Invoices\.handle/);
  });

  it('and overridden with decorators of its own is one handler, with those', async () => {
    @Injectable()
    class Orders extends Worker {
      override readonly name = 'Orders';

      @Consume('orders')
      override handle(@Payload() data: string): void {
        seen.push(`own ${data}`);
      }
    }
    const dlx = await start({ providers: [Orders] });
    await dlx.publish('orders', 'a');
    await dlx.settled();
    expect(seen).toEqual(['own a']);
    expect(dlx.queue('work').exists).toBe(false);
  });

  it('and overridden without decorators is no handler', async () => {
    @Injectable()
    class Orders extends Worker {
      override readonly name = 'Orders';
      override handle(): void {}
    }
    const dlx = await start({ providers: [Orders] });
    expect(dlx.queue('work').exists).toBe(false);
  });

  it('over several classes, from the nearest that decorates it', async () => {
    abstract class Base {
      @Consume('base')
      handle(): void {}
      @Consume('other')
      other(): void {
        seen.push('other');
      }
    }
    abstract class Middle extends Base {
      @Consume('middle')
      override handle(): void {
        seen.push(this.constructor.name);
      }
    }
    @Injectable()
    class Orders extends Middle {}
    const dlx = await start({ providers: [Orders] });
    for (const name of ['middle', 'other']) await dlx.publish(name, 'a');
    await dlx.settled();
    expect(seen).toEqual(['Orders', 'other']);
    expect(dlx.queue('base').exists).toBe(false);
  });
});

/** One tree of providers for each tenant. */
class ByTenant implements ContextIdStrategy {
  readonly tenants = new Map<string, ContextId>();

  attach(contextId: ContextId, request: { readonly data?: { readonly tenant?: string } }) {
    const tenant = request.data?.tenant;
    if (tenant === undefined) return () => contextId;
    const ofTenant = this.tenants.get(tenant) ?? ContextIdFactory.create();
    this.tenants.set(tenant, ofTenant);
    return {
      resolve: (info: HostComponentInfo) => (info.isTreeDurable ? ofTenant : contextId),
      payload: { tenant },
    };
  }
}

describe('two providers whose classes and methods have the same names', () => {
  it('get the arguments that their own decorators ask for', async () => {
    const first = (() => {
      @Injectable()
      class Worker {
        @Consume('first')
        run(@Payload('id') id: unknown, @Ctx() { queue }: DlxContext): void {
          seen.push(`${queue} ${String(id)}`);
        }
      }
      return Worker;
    })();
    const second = (() => {
      @Injectable()
      class Worker {
        @Consume('second')
        run(@Ctx() { queue }: DlxContext, @Payload('name') name: unknown): void {
          seen.push(`${queue} ${String(name)}`);
        }
      }
      return Worker;
    })();
    const dlx = await start({ providers: [first, second] });
    await dlx.publish('first', { id: 1 });
    await dlx.settled();
    await dlx.publish('second', { name: 'b' });
    await dlx.settled();
    expect(seen).toEqual(['first 1', 'second b']);
  });
});

describe('providers with a scope', () => {
  it.each(['Consume', 'EventPattern'] as const)(
    'of the request: %s gets one for each attempt, and it is let go of',
    async (kind) => {
      const made: object[] = [];
      const entry = kind === 'Consume' ? Consume('orders') : EventPattern<string>('orders');
      @(kind === 'Consume' ? Injectable({ scope: Scope.REQUEST }) : Controller({ scope: Scope.REQUEST }))
      class Orders {
        constructor(@Inject(REQUEST) readonly request: { readonly data: unknown; getContext?(): unknown }) {
          made.push(this);
        }

        @(entry as MethodDecorator)
        @Queue('orders')
        @Retry({ attempts: 2, backoff: '1s' })
        created(@Payload() data: string, @Ctx() { attempt }: DlxContext): void {
          seen.push(`${data} ${String(this.request.data)} ${attempt}`);
          if (data === 'bad') throw new Error('down');
        }
      }
      const dlx = await start(kind === 'Consume' ? { providers: [Orders] } : { controllers: [Orders] });
      for (const data of ['a', 'bad', 'b']) await dlx.publish('orders', data);
      await dlx.advance('5s');
      const first = makesInstancesInOrder ? seen.slice(0, 3) : seen.slice(0, 3).toSorted();
      expect(first).toEqual(makesInstancesInOrder ? ['a a 1', 'bad bad 1', 'b b 1'] : ['a a 1', 'b b 1', 'bad bad 1']);
      expect(seen.slice(3)).toEqual(['bad bad 2']);
      expect(new Set(made).size).toBe(4);
    },
  );

  it('that are durable: one for each tenant, and each message still its own outcome', async () => {
    ContextIdFactory.apply(new ByTenant());
    let made = 0;
    @Injectable({ scope: Scope.REQUEST, durable: true })
    class Tenant {
      readonly number = ++made;
      constructor(@Inject(REQUEST) readonly payload: { readonly tenant: string }) {}
    }
    @Injectable()
    class Orders {
      constructor(readonly tenant: Tenant) {}

      @Consume('orders')
      @Retry({ attempts: 1 })
      created(@Payload() { tenant, bad }: { readonly tenant: string; readonly bad?: true }): void {
        seen.push(`${tenant} ${this.tenant.payload.tenant} ${this.tenant.number}`);
        if (bad) throw new Error('down');
      }
    }
    const dlx = await start({ providers: [Orders, Tenant] });
    for (const tenant of ['a', 'b', 'a', 'b']) await dlx.publish('orders', { tenant });
    await dlx.publish('orders', { tenant: 'a', bad: true });
    await dlx.settled();
    expect(seen.sort()).toEqual(['a a 1', 'a a 1', 'a a 1', 'b b 2', 'b b 2']);
    expect(dlx.queue('orders.parked').ready).toBe(1);
    ContextIdFactory.apply({ attach: (contextId) => () => contextId });
  });
});

/*
 * A method with nothing around it is called without Nest's pipeline. A guard that lets everything pass brings the pipeline back, so both
 * have to do the same.
 */
describe('a method is called in the same way with a guard and without', () => {
  class LetPass implements CanActivate {
    canActivate(): boolean {
      return true;
    }
  }
  const Unguarded = (): MethodDecorator => () => undefined;
  const Promised = createParamDecorator(async () => {
    await Promise.resolve();
    return 'promised';
  });
  class Refused extends Error {}
  @Catch(Refused)
  class Filter implements ExceptionFilter {
    catch(error: Refused): Observable<never> {
      seen.push(`filter ${error.message}`);
      return throwError(() => error);
    }
  }

  it.each([
    ['without', Unguarded],
    ['with', () => UseGuards(new LetPass())],
  ])('%s', async (_, Guarded) => {
    @Injectable()
    class Shapes {
      readonly name = 'shapes';

      @Consume('value')
      @Guarded()
      value(@Ctx() context: DlxContext, @Payload() data: unknown, @Payload('part') part: unknown): string {
        seen.push(`${this.name} ${context.queue} ${JSON.stringify(data)} ${JSON.stringify(part)} ${arguments.length}`);
        return 'x';
      }

      @Consume('nothing')
      @Guarded()
      nothing(): void {
        seen.push(`nothing ${arguments.length}`);
      }

      @Consume('custom')
      @Guarded()
      custom(@Promised() text: unknown): void {
        seen.push(`custom ${String(text)}`);
      }

      @Consume('thenable')
      @Guarded()
      thenable(): unknown {
        // oxlint-disable-next-line unicorn/no-thenable -- as some database libraries return
        return { then: (done: (value: Observable<void>) => void) => done(this.#stream('thenable')) };
      }

      @Consume('throws')
      @DeadLetter('', 'dead')
      @UseFilters(new Filter())
      @Guarded()
      throws(): never {
        throw new Refused('thrown');
      }

      @Consume('rejects')
      @DeadLetter('', 'dead')
      @UseFilters(new Filter())
      @Guarded()
      async rejects(): Promise<never> {
        await Promise.resolve();
        throw new Refused('rejected');
      }

      @Consume('stream')
      @DeadLetter('', 'dead')
      @UseFilters(new Filter())
      @Guarded()
      stream(): Observable<never> {
        return throwError(() => new Refused('streamed'));
      }

      #stream(name: string): Observable<void> {
        return new Observable((subscriber) => {
          seen.push(`subscribed ${name}`);
          subscriber.complete();
        });
      }
    }
    @Injectable()
    class Dead {
      @Consume('dead')
      dead(@Ctx() context: DlxContext): void {
        seen.push(`dead ${String(context.headers['dlx-error-message'])}`);
      }
    }
    const dlx = await start({ providers: [Shapes, Dead] });
    for (const queue of ['value', 'nothing', 'custom', 'thenable', 'throws', 'rejects', 'stream']) {
      await dlx.publish(queue, { part: 1 });
      await dlx.settled();
    }
    expect(seen).toEqual([
      'shapes value {"part":1} 1 3',
      'nothing 1',
      'custom promised',
      'subscribed thenable',
      ...['thrown', 'rejected', 'streamed'].flatMap((reason) => [`filter ${reason}`, `dead ${reason}`]),
    ]);
  });
});

class Refused extends Error {}
@Catch(Refused)
class NotingFilter implements ExceptionFilter {
  catch(error: Refused): Observable<never> {
    seen.push(`filter ${error.message}`);
    return throwError(() => error);
  }
}
class Doubling implements NestInterceptor {
  intercept(_: unknown, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value) => (value as number) * 2));
  }
}

describe('a generator is iterated as an observable is', () => {
  async function* counting(to: number): AsyncGenerator<number> {
    for (let count = 1; count <= to; count++) {
      await Promise.resolve();
      seen.push(`value ${count}`);
      yield count;
    }
    if (to === 2) throw new Refused('2');
  }

  @Injectable()
  @UseFilters(new NotingFilter())
  class Consuming {
    @Consume('jobs')
    @Retry({ attempts: 1 })
    async *jobs(to: number): AsyncGenerator<number> {
      yield* counting(to);
    }

    @Consume('intercepted')
    @Retry({ attempts: 1 })
    @UseInterceptors(new Doubling())
    intercepted(to: number): AsyncGenerator<number> {
      return counting(to);
    }

    @Consume('sync')
    @Retry({ attempts: 1 })
    *sync(to: number): Generator<Promise<number>> {
      for (let count = 1; count <= to; count++) {
        seen.push(`value ${count}`);
        yield count === 2 ? Promise.reject(new Refused('2')) : Promise.resolve(count);
      }
    }
  }

  @Controller()
  @UseFilters(new NotingFilter())
  class Controlling {
    @EventPattern<string>('controlled')
    @Queue('controlled')
    @Retry({ attempts: 1 })
    async *controlled(to: number): AsyncGenerator<number> {
      yield* counting(to);
    }

    @EventPattern<string>('controlled.intercepted')
    @Queue('controlled.intercepted')
    @Retry({ attempts: 1 })
    @UseInterceptors(new Doubling())
    async *intercepted(to: number): AsyncGenerator<number> {
      yield* counting(to);
    }

    @MessagePattern('count')
    async *count(to: number): AsyncGenerator<number> {
      yield* counting(to);
    }

    @MessagePattern('double')
    @UseInterceptors(new Doubling())
    async *double(to: number): AsyncGenerator<number> {
      yield* counting(to);
    }
  }

  it.each(['jobs', 'intercepted', 'sync', 'controlled', 'controlled.intercepted'])(
    '%s: to its end, and an error fails the attempt',
    async (queue) => {
      const dlx = await start({ providers: [Consuming], controllers: [Controlling] });
      for (const to of [1, 2]) await dlx.publish(queue, to);
      await dlx.settled();
      expect(seen.splice(0).toSorted()).toEqual(['filter 2', 'value 1', 'value 1', 'value 2']);
      dlx.expectQueue(`${queue}.parked`).toHold([2]);
      dlx.expectQueue(queue).toHold([]);
    },
  );

  it.each([
    ['count', [1, 2, 3]],
    ['double', [2, 4, 6]],
  ] as const)('its values answer the request %s', async (pattern, answers) => {
    const dlx = await start({ controllers: [Controlling] });
    const client = dlx.app.get(DlxClient);
    expect(await lastValueFrom(client.send(pattern, 3).pipe(toArray()))).toEqual(answers);
  });
});
