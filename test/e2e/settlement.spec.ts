import {
  Catch,
  Injectable,
  Logger,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type ExceptionFilter,
  type INestApplicationContext,
} from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { CaptureErrors, DeadLetter, DlxBroker, DlxClient, type OutcomeEvent } from 'dlx-broker';
import { concat, EMPTY, firstValueFrom, of, throwError, timer } from 'rxjs';
import { mergeMap } from 'rxjs/operators';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { contextApp, handlerOf, hybrid, keepApps, microservice, Morgue } from './apps.js';
import { isNest11 } from './nest.js';
import { idle, isEmbedded, missing, until } from './places.js';

class OutOfStock extends Error {}

@Catch()
class Handles implements ExceptionFilter {
  catch(): unknown {
    return of('handled');
  }
}

@Catch()
class Silent implements ExceptionFilter {
  catch(): void {}
}

@Catch()
class Rethrows implements ExceptionFilter {
  catch(error: unknown): unknown {
    return throwError(() => error);
  }
}

@Injectable()
class Refuses {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class Throws {
  canActivate(): boolean {
    throw new OutOfStock('in a guard');
  }
}

@Injectable()
class Picky {
  transform(): never {
    throw new OutOfStock('in a pipe');
  }
}

interface Row {
  readonly what: string;
  readonly handle?: () => unknown;
  readonly above?: MethodDecorator[];
  readonly settles: 'ack' | 'reject';
  /** The class of the error as the dead letter tells it. */
  readonly tells?: string;
}

const fails = (): never => {
  throw new OutOfStock('none left');
};

const rows: readonly Row[] = [
  { what: 'returns a value', handle: () => 5, settles: 'ack' },
  { what: 'returns nothing', handle: () => undefined, settles: 'ack' },
  { what: 'returns a promise', handle: () => Promise.resolve(5), settles: 'ack' },
  { what: 'returns a stream that completes', handle: () => of(1, 2), settles: 'ack' },
  { what: 'returns an empty stream', handle: () => EMPTY, settles: 'ack' },
  { what: 'throws', handle: fails, settles: 'reject', tells: 'OutOfStock' },
  { what: 'throws what is no error', handle: () => Promise.reject('plain text'), settles: 'reject', tells: 'string' },
  { what: 'rejects', handle: async () => fails(), settles: 'reject', tells: 'OutOfStock' },
  {
    what: 'returns a stream that fails at once',
    handle: () => throwError(fails),
    settles: 'reject',
    tells: 'OutOfStock',
  },
  {
    what: 'returns a stream that fails late',
    handle: () => concat(of(1), timer(1).pipe(mergeMap(fails))),
    settles: 'reject',
    tells: 'OutOfStock',
  },
  {
    what: 'throws an RpcException',
    handle: () => Promise.reject(new RpcException({ code: 7 })),
    settles: 'reject',
    tells: 'RpcException',
  },
  { what: 'has a guard that says no', above: [UseGuards(Refuses)], settles: 'reject', tells: 'RpcException' },
  { what: 'has a guard that throws', above: [UseGuards(Throws)], settles: 'reject', tells: 'OutOfStock' },
  { what: 'has a pipe that fails', above: [UsePipes(Picky)], settles: 'reject', tells: 'OutOfStock' },
  { what: 'has a filter that handles it', handle: fails, above: [UseFilters(Handles)], settles: 'ack' },
  {
    what: 'has a filter that returns nothing',
    handle: fails,
    above: [UseFilters(Silent)],
    settles: 'reject',
    tells: 'OutOfStock',
  },
  {
    what: 'has a filter that rethrows',
    handle: fails,
    above: [UseFilters(Rethrows)],
    settles: 'reject',
    tells: 'OutOfStock',
  },
];

const apps = { EventPattern: microservice, Consume: contextApp } as const;

describe.each(['EventPattern', 'Consume'] as const)('a message is settled by its outcome: @%s', (kind) => {
  describe.each([false, true])('request-scoped: %s', (scoped) => {
    let app: INestApplicationContext;
    const outcomes = new Map<string, OutcomeEvent['kind']>();
    beforeAll(async () => {
      if (missing !== undefined) return;
      const workers = rows.map(({ handle = () => 1, above = [] }, index) =>
        handlerOf(kind, handle, [...above, DeadLetter('dlx')], { scoped, name: `Row${index}`, routingKey: `${index}` }),
      );
      const parts =
        kind === 'Consume' ? { providers: [...workers, Morgue] } : { controllers: workers, providers: [Morgue] };
      app = await apps[kind](parts);
      keepApps();
      app.get(DlxBroker).events.subscribe(({ kind, queue }) => outcomes.set(queue, kind));
    });

    it.each(rows.map((row, index) => ({ ...row, index })))('$settles when the handler $what', async (row) => {
      const queue = `Row${row.index}.work`;
      const { backend } = app.get(DlxBroker);
      const bodies = () => app.get(Morgue).bodies.filter(({ context }) => context.deaths[0]?.queue === queue);
      await firstValueFrom(app.get(DlxClient).emit(`${row.index}`, { id: row.index }));
      const outcome = row.settles === 'ack' ? 'acked' : 'rejected';
      await until(() => expect(outcomes.get(queue)).toBe(outcome));
      await until(async () => expect(await backend.status(queue)).toMatchObject(idle));
      await until(() => expect(bodies()).toHaveLength(row.settles === 'ack' ? 0 : 1));
      const [body] = bodies();
      if (body === undefined) return;
      expect(body.data).toEqual({ id: row.index });
      expect(body.context.deaths).toMatchObject([{ queue, reason: 'rejected', count: 1 }]);
      expect(body.context.deaths[0]!.time).toBeInstanceOf(Date);
      expect(body.headers['dlx-error-class']).toBe(backend.rejectsWithHeaders ? row.tells : undefined);
    });
  });
});

describe.runIf(isEmbedded)('in a hybrid application that does not share its configuration', () => {
  const headersOf = async (above: MethodDecorator[]): Promise<Morgue['bodies'][number]['headers']> => {
    const worker = handlerOf('EventPattern', fails, [...above, DeadLetter('dlx')]);
    const app = await hybrid({ controllers: [worker], providers: [Morgue] }, false);
    await firstValueFrom(app.get(DlxClient).emit('work', 1));
    const morgue = app.get(Morgue);
    await vi.waitFor(() => expect(morgue.bodies).toHaveLength(1), { interval: 1, timeout: 8_000 });
    return morgue.bodies[0]!.headers;
  };

  it.runIf(isNest11)('the class of the error is known on Nest 11, where no hook is needed', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn');
    expect(await headersOf([])).toMatchObject({ 'dlx-error-class': 'OutOfStock' });
    expect(warn.mock.calls.filter(([text]) => String(text).includes('inheritAppConfig'))).toEqual([]);
    warn.mockRestore();
  });

  it.skipIf(isNest11)('the class of the error is not known, which is said once', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn');
    expect(await headersOf([])).toMatchObject({
      'dlx-error-class': 'Object',
      'dlx-error-message': 'Internal server error',
    });
    expect(warn.mock.calls.filter(([text]) => String(text).includes('inheritAppConfig'))).toHaveLength(1);
    warn.mockRestore();
  });

  it('unless an interceptor notes it', async () => {
    expect(await headersOf([UseInterceptors(CaptureErrors)])).toMatchObject({ 'dlx-error-class': 'OutOfStock' });
  });
});
