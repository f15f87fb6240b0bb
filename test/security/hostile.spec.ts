import { BadRequestException, Controller, Injectable } from '@nestjs/common';
import { EventPattern, MessagePattern, RpcException } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBroker, DlxClient, Retry } from 'dlx-broker';
import { firstValueFrom, lastValueFrom, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { contextApp, handlerOf, microservice, Morgue } from '../e2e/apps.js';

const refuses = (): never => {
  throw new Error('a trap');
};
const traps = new Proxy({} as ProxyHandler<object>, { get: () => refuses });
const getters = (target: object, ...names: string[]): object => {
  for (const name of names) Object.defineProperty(target, name, { get: refuses });
  return target;
};
const circular: { self?: unknown } = {};
circular.self = circular;
const caused = new Error('outermost', { cause: new Error('middle', { cause: new TypeError('innermost') }) });
const itself: Error & { cause?: unknown } = new Error('its own cause');
itself.cause = itself;
class Static {
  static override = 1;
}
Object.defineProperty(Static, 'name', { value: () => 'a function' });

/** Values that can be thrown, and a part of their description. */
const thrown: readonly [string, () => unknown, string | RegExp][] = [
  ['a proxy whose traps throw', () => new Proxy({}, traps), 'cannot be read'],
  ['a proxy of an error whose traps throw', () => new Proxy(new Error('x'), traps), 'cannot be read'],
  ['a function proxy whose traps throw', () => new Proxy(() => 1, traps), 'cannot be read'],
  ['a revoked proxy', () => (({ proxy, revoke }) => (revoke(), proxy))(Proxy.revocable({}, {})), 'cannot be read'],
  ['an error with throwing getters', () => getters(new Error('x'), 'message', 'stack', 'name', 'cause'), ''],
  ['an object with throwing getters', () => getters({}, 'message', 'constructor', 'toJSON'), ''],
  ['an error whose constructor throws', () => getters(new Error('x'), 'constructor'), ''],
  ['an error whose message is an object', () => Object.assign(new Error('x'), { message: { toString: refuses } }), ''],
  ['an error whose stack is a list', () => Object.assign(new Error('listed'), { stack: [1, 2] }), 'listed'],
  ['an object whose class has a function for a name', () => new Static(), ''],
  ['an object whose toString throws', () => ({ toString: refuses, [Symbol.toPrimitive]: refuses }), ''],
  ['an object whose toJSON throws', () => ({ toJSON: refuses }), ''],
  ['a circular object', () => circular, ''],
  ['an object without a prototype', () => Object.assign(Object.create(null) as object, { code: 5 }), '5'],
  ['null', () => null, 'null'],
  ['undefined', () => undefined, 'undefined'],
  ['a symbol', () => Symbol('odd'), 'odd'],
  ['a big integer', () => 12n, '12'],
  ['an object with a big integer', () => ({ many: 12n }), '12'],
  ['a text of 10 MB', () => 'x'.repeat(10_000_000), 'xxx'],
  ['an error with a message of 10 MB', () => new Error('y'.repeat(10_000_000)), 'yyy'],
  ['a frozen error', () => Object.freeze(new TypeError('frozen')), 'frozen'],
  ['an error with a chain of causes', () => caused, 'outermost'],
  ['an error that is its own cause', () => itself, 'its own cause'],
  [
    'an exception whose response throws',
    () => Object.assign(new BadRequestException('b'), { getResponse: refuses }),
    'b',
  ],
  ['an exception whose response is circular', () => new BadRequestException({ ...circular }), ''],
  ['an exception whose error throws', () => new RpcException(getters({}, 'message', 'toJSON')), ''],
];

describe.each(['EventPattern', 'Consume'] as const)(
  'whatever a handler throws, its message is settled: @%s',
  (kind) => {
    const start = async (handle: () => unknown, above: MethodDecorator[]): Promise<[DlxBroker, Morgue]> => {
      const worker = handlerOf(kind, handle, above);
      const app = await (kind === 'Consume'
        ? contextApp({ providers: [worker, Morgue] })
        : microservice({ controllers: [worker], providers: [Morgue] }));
      await firstValueFrom(app.get(DlxClient).emit('work', 1));
      return [app.get(DlxBroker), app.get(Morgue)];
    };
    const ways: readonly [string, (what: () => unknown) => unknown][] = [
      [
        'thrown',
        (what) => {
          throw what();
        },
      ],
      ['in a promise', (what) => Promise.reject(what())],
      ['in a stream', (what) => throwError(what)],
    ];

    it.each(thrown)('%s is dead-lettered', async (_, what, told) => {
      for (const [, way] of ways) {
        const [broker, morgue] = await start(() => way(what), [DeadLetter('dlx')]);
        await vi.waitFor(() => expect(morgue.bodies).toHaveLength(1), { interval: 1, timeout: 8_000 });
        const { headers } = morgue.bodies[0]!;
        expect(typeof headers['dlx-error-class']).toBe('string');
        expect(headers['dlx-error-message']).toMatch(told);
        expect((headers['dlx-error-message'] as string).length).toBeLessThanOrEqual(1_024);
        expect(await broker.backend.status('Worker.work')).toMatchObject({ messages: 0, unacknowledged: 0 });
        expect(broker.counts.rejected).toBe(1);
      }
    });

    it.each(thrown)('%s is tried again and parked', async (_, what) => {
      const [broker] = await start(() => ways[1]![1](what), [Retry({ attempts: 2, backoff: 1 })]);
      await vi.waitFor(() => expect(broker.counts.parked).toBe(1), { interval: 1, timeout: 8_000 });
      expect(await broker.backend.status('Worker.work')).toMatchObject({ messages: 0, unacknowledged: 0 });
    });
  },
);

describe('a request is answered and settled', () => {
  const answers: readonly [string, () => unknown, RegExp][] = [
    ['a big integer', () => 12n, /cannot be written as JSON/],
    ['a circular object', () => circular, /cannot be written as JSON/],
    ['an object whose toJSON throws', () => ({ toJSON: refuses }), /cannot be written as JSON/],
    ['a proxy whose traps throw', () => [new Proxy({}, traps)], /cannot be written as JSON/],
    ['a stream with a big integer in it', () => of(1n, 2), /cannot be written as JSON/],
    ['a stream that ends with a circular object', () => of(1, circular), /cannot be written as JSON/],
  ];

  it.each(answers)('when its answer cannot be serialised: %s', async (_, answer, told) => {
    @Controller()
    class Answers {
      @MessagePattern('ask')
      @DeadLetter('dlx')
      ask(): unknown {
        return answer();
      }
    }
    const app = await microservice({ controllers: [Answers], providers: [Morgue] });
    const failure = await lastValueFrom(app.get(DlxClient).send('ask', {}) as Observable<unknown>).then(
      (value) => ({ value }),
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ status: 'error', message: expect.stringMatching(told) as string });
    await vi.waitFor(() => expect(app.get(Morgue).bodies).toHaveLength(1), { interval: 1, timeout: 8_000 });
    expect(app.get(Morgue).bodies[0]!.headers['dlx-error-message']).toMatch(told);
    expect(await app.get(DlxBroker).backend.status('Answers.ask')).toMatchObject({ messages: 0, unacknowledged: 0 });
  });

  it.each(thrown)('when its handler throws %s', async (_, what) => {
    @Controller()
    class Answers {
      @MessagePattern('ask')
      ask(): unknown {
        return Promise.reject(what());
      }
    }
    const app = await microservice({ controllers: [Answers] });
    const failure = await lastValueFrom(app.get(DlxClient).send('ask', {}) as Observable<unknown>).then(
      (value) => ({ value }),
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ status: 'error' });
    await vi.waitFor(() => expect(app.get(DlxBroker).counts.rejected).toBe(1), { interval: 1, timeout: 8_000 });
  });
});

describe('the reasons of a validation are kept', () => {
  const fields = ['name must be a string', 'age must be positive'];
  const nested = { property: 'address', children: [{ property: 'zip', constraints: { isZip: 'zip must be a zip' } }] };
  const rows: readonly [string, () => unknown, string[]][] = [
    ['the messages of an HttpException', () => new BadRequestException(fields), fields],
    ['those of a response of its own', () => new BadRequestException({ message: fields, code: 1 }), fields],
    ['one text', () => new BadRequestException('only this'), ['only this']],
    ['a response without a message', () => new BadRequestException({ age: 'too low' }), ['age', 'too low']],
    ['the error of an RpcException', () => new RpcException({ message: 'bad', errors: fields }), ['bad', ...fields]],
    ['errors of class-validator', () => new RpcException([nested] as never), ['address.zip: zip must be a zip']],
    ['a list of errors as it is', () => [nested], ['address.zip: zip must be a zip']],
  ];

  it.each(rows)('on the dead letter: %s', async (_, what, told) => {
    @Injectable()
    class Validates {
      @Consume({ routingKey: 'v' })
      @DeadLetter('dlx')
      work(): unknown {
        return Promise.reject(what());
      }
    }
    const app = await contextApp({ providers: [Validates, Morgue] });
    await firstValueFrom(app.get(DlxClient).emit('v', 1));
    await vi.waitFor(() => expect(app.get(Morgue).bodies).toHaveLength(1), { interval: 1, timeout: 8_000 });
    for (const text of told) expect(app.get(Morgue).bodies[0]!.headers['dlx-error-message']).toContain(text);
  });

  it('but never what was validated', async () => {
    @Controller()
    class Validates {
      @EventPattern<string>('v')
      @DeadLetter('dlx')
      work(): never {
        const target = { password: 'secret' };
        throw new RpcException([{ ...nested, target, value: 'secret', constraints: { a: 'too short' } }] as never);
      }
    }
    const app = await microservice({ controllers: [Validates], providers: [Morgue] });
    await firstValueFrom(app.get(DlxClient).emit('v', 1));
    await vi.waitFor(() => expect(app.get(Morgue).bodies).toHaveLength(1), { interval: 1, timeout: 8_000 });
    const { headers } = app.get(Morgue).bodies[0]!;
    expect(headers['dlx-error-message']).toContain('address: too short');
    expect(JSON.stringify(headers)).not.toContain('secret');
  });
});
