import { describe, expect, it } from 'vitest';
import type { AmqpConnection, ConnectionEvents, ServerDescription } from '../../amqp/client/api.js';
import type { Address } from '../../amqp/client/dial.js';
import { type ConnectFailure, ConnectionClosedError, ConnectionFailedError } from '../../amqp/client/errors.js';
import type { ConnectionOptions } from '../../amqp/client/handshake.js';
import type { Transport } from '../../amqp/client/transport.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { Link } from './link.js';
import { resolveRabbitMq } from './open.js';
import type { RabbitMqOptions } from './options.js';

/** An attempt to connect, which the test answers. */
interface Attempt {
  readonly address: Address;
  readonly options: ConnectionOptions;
  readonly events: ConnectionEvents;
  isClosed: boolean;
}

const description: ServerDescription = {
  properties: new Map(),
  product: 'RabbitMQ',
  version: '3.10.8',
  can: () => true,
};

/** Lets promises that are ready go on. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

function arrange(options: RabbitMqOptions) {
  const clock = new ManualClock();
  const attempts: Attempt[] = [];
  const happened: string[] = [];
  const addresses: Address[] = [];
  const link = new Link(
    resolveRabbitMq(options),
    {
      clock,
      random: () => 0.999_999,
      later: (act) => act(),
      fault: (error) => void happened.push(`fault: ${String(error)}`),
      dial: (address) => {
        addresses.push(address);
        return {} as Transport;
      },
      openConnection: (login, _transport, _runtime, events) => {
        const attempt: Attempt = { address: addresses.at(-1)!, options: login, events, isClosed: false };
        attempts.push(attempt);
        const close = (): void => {
          attempt.isClosed = true;
          events.closed();
        };
        return { isBlocked: false, close, destroy: close } as unknown as AmqpConnection;
      },
    },
    {
      opened: async () => void happened.push('opened'),
      ready: () => void happened.push('ready'),
      lost: (failure) => void happened.push(`lost: ${failure.message}`),
      blocked: (reason) => void happened.push(`blocked: ${reason}`),
      drained: () => undefined,
    },
  );
  const last = (): Attempt => attempts.at(-1)!;
  const hosts = (): string => attempts.map(({ options: { place } }) => place).join(' ');
  const refuse = async (reason: ConnectFailure = 'unreachable'): Promise<void> => {
    const { place, virtualHost = '/' } = last().options;
    last().events.closed(new ConnectionFailedError(reason, place, virtualHost, reason));
    await settle();
  };
  const accept = async (): Promise<void> => {
    last().events.opened(description);
    await settle();
  };
  const lose = async (): Promise<void> => {
    last().events.closed(new ConnectionClosedError('socket', last().options.place, 'reset'));
    await settle();
  };
  const advance = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await settle();
  };
  const start = async (): Promise<{ failure?: Error; server?: unknown }> => {
    const result: { failure?: Error; server?: unknown } = {};
    link.start().then(
      (server) => (result.server = server),
      (failure: Error) => (result.failure = failure),
    );
    await settle();
    return result;
  };
  return { link, attempts, last, hosts, refuse, accept, lose, advance, start, happened };
}

describe('the start', () => {
  it('tries each URL once, rests, and tries them again; pauses double', async () => {
    const { start, hosts, refuse, advance, accept, link, happened } = arrange({ urls: ['amqp://a/x', 'amqp://b:7/x'] });
    const result = await start();
    await refuse();
    await refuse();
    expect(hosts()).toBe('a:5672 b:7');
    expect(link.state).toMatchObject({ kind: 'connecting', attempt: 1 });
    await advance(99);
    expect(hosts()).toBe('a:5672 b:7');
    await advance(1);
    expect(link.state).toMatchObject({ kind: 'connecting', attempt: 2, failure: { name: 'ConnectionFailedError' } });
    await refuse();
    await refuse();
    await advance(199);
    expect(hosts()).toBe('a:5672 b:7 a:5672 b:7');
    await advance(1);
    await accept();
    expect(result.server).toEqual({ product: 'RabbitMQ', version: '3.10.8' });
    expect(happened).toEqual(['opened', 'ready']);
  });

  it('fails after so many attempts, and names every server', async () => {
    const { start, refuse, advance, link, attempts } = arrange({ urls: ['amqp://a', 'amqp://b'], startAttempts: 2 });
    const result = await start();
    for (const _ of 'ab') await refuse();
    await advance(100);
    for (const _ of 'ab') await refuse('timeout');
    expect(result.failure).toMatchObject({ name: 'ConnectError', retry: 'later' });
    expect(result.failure!.message).toMatch(/in 2 attempts \(0\.1 s\): .*a:5672.*; .*b:5672/);
    expect(link.state).toEqual({ kind: 'closed', failure: result.failure });
    await advance(3_600_000);
    expect(attempts).toHaveLength(4);
  });

  it('fails in the first round when each server refuses the login; not when one of them is only down', async () => {
    const both = arrange({ urls: ['amqp://a', 'amqp://b'] });
    const result = await both.start();
    await both.refuse('credentials');
    await both.refuse('virtual host');
    expect(result.failure).toMatchObject({ name: 'ConnectError', retry: 'never' });
    const one = arrange({ urls: ['amqp://a', 'amqp://b'] });
    const other = await one.start();
    await one.refuse('credentials');
    await one.refuse('unreachable');
    expect(other.failure).toBeUndefined();
  });
});

describe('a connection that was lost', () => {
  it('is replaced at once when it was a good one, at the next URL, and for ever', async () => {
    const { start, accept, lose, refuse, advance, hosts, link, happened } = arrange({
      urls: ['amqp://a', 'amqp://b'],
      startAttempts: 1,
      longestPause: 1_000,
    });
    await start();
    await accept();
    await advance(60_000);
    await lose();
    await advance(0);
    expect(hosts()).toBe('a:5672 b:5672');
    expect(link.state).toMatchObject({ kind: 'reconnecting', attempt: 1 });
    for (let round = 1; round <= 50; round++) {
      await refuse();
      await refuse();
      await advance(1_000);
    }
    expect(link.state).toMatchObject({ kind: 'reconnecting', attempt: 51 });
    await accept();
    expect(link.state.kind).toBe('ready');
    expect(happened).toEqual(['opened', 'ready', 'lost: connection to a:5672 lost: reset', 'opened', 'ready']);
  });

  it('is tried again every two seconds at least, however long the server is away', async () => {
    const { start, accept, lose, refuse, advance, attempts } = arrange({ urls: 'amqp://a' });
    await start();
    await accept();
    await advance(60_000);
    await lose();
    await advance(0);
    for (let round = 0; round < 20; round++) {
      const before = attempts.length;
      await refuse();
      await advance(2_000);
      expect(attempts).toHaveLength(before + 1);
    }
  });

  it('right after it was opened is followed by a pause that grows: no loop', async () => {
    const { start, accept, lose, advance, attempts } = arrange({ urls: 'amqp://a' });
    await start();
    await accept();
    for (const pause of [100, 200, 400, 800]) {
      const before = attempts.length;
      await lose();
      await advance(pause - 1);
      expect(attempts).toHaveLength(before);
      await advance(1);
      expect(attempts).toHaveLength(before + 1);
      await accept();
    }
    await advance(5_000);
    await lose();
    await advance(0);
    expect(attempts).toHaveLength(6);
  });

  it('gets URLs and credentials anew, so that secrets may change', async () => {
    let version = 0;
    const { start, accept, lose, advance, last } = arrange({
      urls: () => [`amqp://node-${version}`],
      credentials: async () => ({ user: 'u', password: `secret ${++version}` }),
    });
    await start();
    expect(last().options).toMatchObject({ place: 'node-0:5672', credentials: { user: 'u', password: 'secret 1' } });
    await accept();
    await advance(10_000);
    await lose();
    await advance(0);
    expect(last().options).toMatchObject({ place: 'node-1:5672', credentials: { user: 'u', password: 'secret 2' } });
  });
});

describe('functions for URLs and credentials', () => {
  it('that hang fail their attempt after connectTimeout, and the next attempt calls them again', async () => {
    let calls = 0;
    const { start, advance, accept, attempts } = arrange({
      urls: () => (++calls === 1 ? new Promise<string>(() => undefined) : 'amqp://a'),
      credentials: () => (++calls === 3 ? new Promise<never>(() => undefined) : { user: 'u', password: 'p' }),
      startAttempts: 3,
      connectTimeout: 1_000,
    });
    const result = await start();
    await advance(999);
    expect(calls).toBe(1);
    await advance(1);
    await advance(100);
    expect(calls).toBe(3);
    await advance(1_000);
    await advance(200);
    await accept();
    expect(attempts).toHaveLength(1);
    expect(result.server).toBeDefined();
  });

  it('that hang are named by the error of the start', async () => {
    const hang = (): Promise<never> => new Promise(() => undefined);
    const each = [{ urls: hang }, { urls: 'amqp://a', credentials: hang }];
    for (const [index, option] of ['urls', 'credentials'].entries()) {
      const { start, advance } = arrange({ ...each[index]!, startAttempts: 1, connectTimeout: 1_000 });
      const result = await start();
      await advance(1_000);
      expect(result.failure?.message).toContain(
        `option '${option}' of rabbitmq() failed: it gave no value within 1000 ms (option 'connectTimeout')`,
      );
    }
  });

  it('that throw what is no error make the start fail all the same', async () => {
    for (const thrown of [undefined, null, 'text']) {
      const { start } = arrange({
        urls: () => {
          throw thrown;
        },
        startAttempts: 1,
      });
      const { failure } = await start();
      expect(failure?.message).toContain("option 'urls' of rabbitmq() failed: a value that is no error was thrown");
    }
  });

  it.each([undefined, null, 'guest', 5, {}, { user: 'u' }, { user: 'u', password: 5 }])(
    'credentials that are none (%j) are refused, and are not those of guest',
    async (value) => {
      const { start, attempts } = arrange({
        urls: 'amqp://a',
        credentials: (() => value) as never,
        startAttempts: 1,
      });
      const { failure } = await start();
      expect(failure?.message).toContain(
        "option 'credentials' of rabbitmq() gave no { user, password } of two strings",
      );
      expect(attempts).toHaveLength(0);
    },
  );

  it('credentials that throw when they are read fail the attempt, whatever they throw', async () => {
    const credentials = {
      get user(): string {
        throw undefined;
      },
      password: 'p',
    };
    const { start, attempts } = arrange({ urls: 'amqp://a', credentials: () => credentials, startAttempts: 1 });
    const { failure } = await start();
    expect(failure?.message).toContain(
      "option 'credentials' of rabbitmq() failed: a value that is no error was thrown",
    );
    expect(attempts).toHaveLength(0);
  });

  it('that give a value after the end change nothing', async () => {
    let give: (url: string) => void = () => undefined;
    const { start, link, attempts } = arrange({ urls: () => new Promise<string>((resolve) => (give = resolve)) });
    await start();
    await link.close();
    give('amqp://a');
    await settle();
    expect(attempts).toHaveLength(0);
  });
});

describe('the state', () => {
  it('is blocked while the server blocks, and ready again afterwards', async () => {
    const { start, accept, last, link, happened } = arrange({ urls: 'amqp://a' });
    const states: string[] = [];
    link.onState(({ kind }) => states.push(kind));
    await start();
    await accept();
    last().events.blocked!('low on memory');
    expect(link.state).toMatchObject({ kind: 'blocked', reason: 'low on memory' });
    last().events.unblocked!();
    expect(states).toEqual(['connecting', 'ready', 'blocked', 'ready']);
    expect(happened.slice(2)).toEqual(['blocked: low on memory', 'blocked: undefined']);
  });

  it('is closed by close(), also while it connects: then nothing is tried any more', async () => {
    const { start, link, refuse, advance, attempts } = arrange({ urls: 'amqp://a' });
    const result = await start();
    await refuse();
    await link.close();
    await settle();
    expect(link.state).toEqual({ kind: 'closed' });
    expect(result.failure).toMatchObject({ name: 'ConnectionLostError', mayBeTaken: false });
    await advance(3_600_000);
    expect(attempts).toHaveLength(1);
    const open = arrange({ urls: 'amqp://a' });
    await open.start();
    const closing = open.link.close();
    await closing;
    expect(open.last().isClosed).toBe(true);
  });

  it('a listener that throws is a fault, and the others hear it', async () => {
    const { start, accept, link, happened } = arrange({ urls: 'amqp://a' });
    const states: string[] = [];
    link.onState(() => {
      throw new Error('a mistake');
    });
    link.onState(({ kind }) => states.push(kind));
    await start();
    await accept();
    expect(states).toEqual(['connecting', 'ready']);
    expect(happened).toContain('fault: Error: a mistake');
  });
});
