import {
  Controller,
  Injectable,
  Logger,
  Module,
  Catch,
  UseFilters,
  type ExceptionFilter,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern, RpcException, type AsyncMicroserviceOptions } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxRecordBuilder,
  Drop,
  DlxServer,
  Retry,
  type DlxBrokerOptions,
} from 'dlx-broker';
import { firstValueFrom, lastValueFrom, throwError } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { here, idle, isOfStart, until } from './places.js';
import { classOf } from '../harnesses/class-of.js';

interface Line {
  readonly level: string;
  readonly text: string;
  readonly stack: unknown;
}

const close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0)) await end();
  Logger.overrideLogger(false);
});

/** A microservice whose log is kept. */
async function start(handlers: Type, options: DlxBrokerOptions = {}) {
  const lines: Line[] = [];
  const keep =
    (level: string) =>
    (text: unknown, ...more: unknown[]): void => {
      if (!isOfStart(text)) lines.push({ level, text: String(text), stack: more.length > 1 ? more[0] : undefined });
    };
  const logger = { log: () => undefined, warn: keep('warn'), error: keep('error'), fatal: keep('fatal') };
  @Module({ imports: [DlxBrokerModule.forRoot(here(options))], controllers: [handlers] })
  class Root {}
  const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(Root, {
    logger,
    abortOnError: false,
    inject: [DlxServer],
    useFactory: (server: DlxServer) => ({ strategy: server }),
  });
  close.push(() => app.close());
  await app.listen();
  lines.splice(0); // what is said at start is another matter
  return { lines, broker: app.get(DlxBroker), client: app.get(DlxClient) };
}

class OutOfStock extends Error {}

@Controller()
class ByPattern {
  @EventPattern<string>('work')
  @Retry({ attempts: 3, backoff: 2 })
  work(): never {
    throw new OutOfStock('none left');
  }
}

@Injectable()
class ByConsume {
  @Consume({ routingKey: 'work' })
  @Retry({ attempts: 3, backoff: 2 })
  work(): never {
    throw new OutOfStock('none left');
  }
}

describe.each([ByPattern, ByConsume])('a failure is logged once: %o', (handlers) => {
  const after = async (options: DlxBrokerOptions) => {
    const { lines, broker, client } = await start(handlers, options);
    await firstValueFrom(client.emit('work', 1));
    await until(() => expect(broker.counts.parked).toBe(1));
    return lines;
  };
  const { name } = handlers;

  it('a warning for each retry, an error for the last attempt: one line each', async () => {
    const lines = await after({});
    expect(lines.map(({ level, text }) => [level, text])).toEqual([
      ['warn', `${name}.work: attempt 1 of 3 failed, queue '${name}.work', next in 2 ms: OutOfStock: none left`],
      ['warn', `${name}.work: attempt 2 of 3 failed, queue '${name}.work', next in 2 ms: OutOfStock: none left`],
      [
        'error',
        `${name}.work: attempt 3 of 3 failed, queue '${name}.work', parked in '${name}.work.parked': OutOfStock: none left`,
      ],
    ]);
    expect(lines.map(({ stack }) => stack)).toEqual([undefined, undefined, undefined]);
  });

  it('with its stack for the last attempt, where that is wanted', async () => {
    const lines = await after({ logging: { stacks: true } });
    expect(lines.map(({ stack }) => typeof stack)).toEqual(['undefined', 'undefined', 'string']);
    expect(lines[2]!.stack).toMatch(/^OutOfStock: none left\n +at .*failure-log\.spec/);
  });

  it('only the last one, or none, where that is wanted', async () => {
    expect((await after({ logFailures: 'last' })).map(({ level }) => level)).toEqual(['error']);
    expect(await after({ logFailures: 'none' })).toEqual([]);
  });
});

it('an unknown wish is refused', async () => {
  await expect(start(ByConsume, { logFailures: 'some' as never })).rejects.toThrow(/logFailures/);
});

it('what a client wrote is one line of bounded length', async () => {
  @Controller()
  class Echoes {
    @EventPattern<string>('echo')
    @DeadLetter('', 'dead')
    echo(data: string): never {
      throw new Error(`cannot read ${data}`);
    }
  }
  const { lines, broker, client } = await start(Echoes);
  await firstValueFrom(client.emit('echo', `a\nERROR forged\u001b[2J\u202e${'x'.repeat(5_000)}`));
  await until(() => expect(broker.counts.rejected).toBe(1));
  expect(lines).toHaveLength(1);
  const [{ text, stack }] = lines as [Line];
  expect(text).toContain(
    "Echoes.echo: attempt 1 failed, queue 'Echoes.echo', rejected: Error: cannot read a\\x0aERROR",
  );
  for (const shown of [text, stack as string]) {
    // eslint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/\u001b|\u202e|^ERROR/m);
  }
  expect(text.length).toBeLessThan(1_300);
});

it.each([undefined, null])('says that %s was thrown', async (nothing) => {
  @Controller()
  class Throws {
    @EventPattern<string>('nothing')
    @DeadLetter('', 'dead')
    handle(): never {
      throw nothing;
    }
  }
  const { lines, broker, client } = await start(Throws);
  await firstValueFrom(client.emit('nothing', 1));
  await until(() => expect(broker.counts.rejected).toBe(1));
  expect(lines.map(({ text }) => text)).toEqual([
    `Throws.handle: attempt 1 failed, queue 'Throws.handle', rejected: ${nothing} was thrown instead of an error`,
  ]);
});

it('a filter of the application still gets the error, once, and says what the caller learns', async () => {
  const caught: unknown[] = [];
  @Catch(OutOfStock)
  class Tells implements ExceptionFilter {
    catch(error: OutOfStock): unknown {
      caught.push(error);
      return throwError(() => ({ status: 'sold out' }));
    }
  }
  @Controller()
  class Asked {
    @MessagePattern('filtered')
    @UseFilters(Tells)
    filtered(): never {
      throw new OutOfStock('a');
    }
    @MessagePattern('other')
    @UseFilters(Tells)
    other(): never {
      throw new TypeError('b');
    }
    @MessagePattern('rpc')
    rpc(): never {
      throw new RpcException({ code: 7 });
    }
    @MessagePattern('plain')
    plain(): never {
      throw new RpcException('plain');
    }
    @MessagePattern('drop')
    drop(): never {
      throw new Drop('not mine');
    }
  }
  const { lines, client } = await start(Asked);
  const answer = (pattern: string): Promise<unknown> =>
    lastValueFrom(client.send(pattern, {})).then(
      () => 'succeeded',
      (error: unknown) => error,
    );
  expect(await answer('filtered')).toEqual({ status: 'sold out' });
  expect(await answer('other')).toEqual({ status: 'error', message: 'Internal server error' });
  expect(await answer('rpc')).toEqual({ code: 7 });
  expect(await answer('plain')).toEqual({ status: 'error', message: 'plain' });
  expect(await answer('drop')).toEqual({ status: 'error', message: 'not mine' });
  expect(caught).toHaveLength(1);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'error', 'error', 'error', 'warn']);
});

it('a message that no handler takes is not logged as a failure of one', async () => {
  const Shared = classOf(
    'Shared',
    {
      a: [Consume({ queue: 'shared', routingKey: 'a' }), Retry({ attempts: 3 })],
      b: [Consume({ queue: 'shared', routingKey: 'b' })],
    },
    Controller(),
  );
  const { lines, client, broker } = await start(Shared);
  await lastValueFrom(client.emit('shared', new DlxRecordBuilder({}).setExchange('').build()), {
    defaultValue: undefined,
  });
  // The line follows the count, because a server confirms the parked message later.
  await until(() => expect([broker.counts.parked, lines.length]).toEqual([1, 2]));
  expect(lines.map(({ level, text }) => [level, text])).toEqual([
    ['error', "no handler of queue 'shared' is for the pattern 'shared'; the message is refused"],
    ['error', "queue 'shared': a message that no handler got, parked in 'shared.parked'"],
  ]);
});

it('a logger that throws leaves no message in hand', async () => {
  const broken = (): never => {
    throw new Error('no disk');
  };
  @Module({ imports: [DlxBrokerModule.forRoot(here())], providers: [ByConsume] })
  class Root {}
  const logger = { log: () => undefined, warn: broken, error: broken };
  const app = await NestFactory.createApplicationContext(Root, { logger, abortOnError: false });
  close.push(() => app.close());
  await firstValueFrom(app.get(DlxClient).emit('work', 1));
  const broker = app.get(DlxBroker);
  await until(() => expect(broker.counts.parked).toBe(1));
  expect(await broker.backend.status('ByConsume.work')).toMatchObject(idle);
});
