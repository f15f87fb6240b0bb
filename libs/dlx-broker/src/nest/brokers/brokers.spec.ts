import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { EmbeddedBackend } from '../../backends/index.js';
import { harness, ManualClock } from '../../testing.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import type { Connected } from '../module/options.js';
import type { BrokerChoice } from './made.js';
import { connect } from './connect.js';
import { customBackend, sharedBroker, type SharedBrokerOptions } from './given.js';
import { embedded, type EmbeddedBrokerOptions } from './embedded.js';
import type { ListenOptions } from './listen.js';
import { rabbitmq } from './rabbitmq.js';

type Any = never;
const bad = (value: unknown): Any => value as Any;

function refuses(cases: readonly (readonly [what: string, attempt: () => unknown, text: RegExp])[]): void {
  it.each(cases)('%s', (_, attempt, text) => {
    expect(attempt).toThrow(DlxConfigurationError);
    expect(attempt).toThrow(text);
  });
}

const open: Connected[] = [];
afterEach(async () => {
  for (const connected of open.splice(0)) await connected.close();
});
async function opened(choice: BrokerChoice): Promise<Connected> {
  const connected = await connect(choice);
  open.push(connected);
  return connected;
}

describe('a choice of a broker', () => {
  it('is a frozen value of a kind, which nothing changes afterwards', () => {
    const { broker, backend } = harness();
    const options = { vhost: 'shop', listen: { amqp: { port: 0 } } };
    const choices = [embedded(options), sharedBroker(broker, options), customBackend(backend)];
    expect(choices.map(({ kind }) => kind)).toEqual(['embedded', 'shared', 'custom']);
    for (const choice of choices) expect(Object.isFrozen(choice)).toBe(true);
    options.vhost = 'another';
    expect(choices[0]).toMatchObject({ options: { vhost: 'shop' } });
    expect(Object.isFrozen((choices[0] as unknown as { options: object }).options)).toBe(true);
  });

  it('may leave out whatever is undefined', () => {
    expect(embedded({ dataDir: undefined, durability: undefined, listen: undefined }).kind).toBe('embedded');
  });

  it('opens nothing before the application connects, and then a broker in memory unless it says otherwise', async () => {
    const { backend } = await opened(embedded());
    expect(backend).toBeInstanceOf(EmbeddedBackend);
    const { broker } = backend as EmbeddedBackend;
    expect([...broker.virtualHosts.keys()]).toEqual(['/']);
  });

  it('has the time of the clock it names', async () => {
    const clock = new ManualClock();
    const { backend } = await opened(embedded({ clock, vhost: 'shop' }));
    expect(backend.clock).toBe(clock);
    await backend.connect();
    await backend.declare({
      exchanges: [],
      bindings: [],
      queues: [{ name: 'q', durable: true, exclusive: false, autoDelete: false, arguments: new Map() } as never],
    });
    backend.publish({ exchange: '', routingKey: 'q', properties: { expiration: '60000' }, body: Buffer.from('1') });
    clock.advance('59s');
    expect(await backend.status('q')).toMatchObject({ messages: 1 });
    clock.advance('1s');
    expect(await backend.status('q')).toMatchObject({ messages: 0 });
  });

  it('closes a broker of the application, and leaves one of others open', async () => {
    const own = await connect(embedded());
    await own.close();
    expect((own.backend as EmbeddedBackend).broker.isClosed).toBe(true);
    const { broker, backend } = harness();
    await (await connect(sharedBroker(broker))).close();
    await (await connect(customBackend(backend))).close();
    expect(broker.isClosed).toBe(false);
    await backend.connect();
    expect(await backend.listing!.queueNames()).toEqual([]);
  });
});

describe('embedded() refuses', () => {
  const own = (options: unknown) => () => embedded(bad(options));
  const about = (option: string, rest: string): RegExp => new RegExp(`^option '${option}' of embedded\\(\\): ${rest}`);
  refuses([
    ['what is no object', own('./data'), /embedded\(\): '\.\/data' is not an object of options; write embedded\(\{/],
    ['null', own(null), /null is not an object/],
    [
      'an option misspelt',
      own({ dataDri: './data' }),
      /^embedded\(\): 'dataDri' is no option; did you mean 'dataDir'\? there are rabbitmq, dataDir, durability, .*listen$/,
    ],
    [
      'an option with more letters',
      own({ dataDirectory: './data' }),
      /'dataDirectory' is no option; did you mean 'dataDir'\?/,
    ],
    ['an option with fewer letters', own({ message: 5 }), /'message' is no option; did you mean 'messageMemory'\?/],
    [
      'an option of the transport',
      own({ prefetch: 5 }),
      /^embedded\(\): 'prefetch' is an option of forRoot\(\): forRoot\(\{ broker: embedded\(\.\.\.\), prefetch \}\)$/,
    ],
    ['vhost empty', own({ vhost: '' }), about('vhost', "'' is empty")],
    ['user of an object', own({ user: {} }), about('user', '\\{\\} is not a string')],
    ['dataDir empty', own({ dataDir: '' }), about('dataDir', "'' is empty")],
    ['rabbitmq of a number', own({ rabbitmq: 4 }), about('rabbitmq', '4 is not one of 4, 3.10')],
    ['a clock that is a number', own({ clock: 5 }), about('clock', "'number' is no Clock: it has no method now")],
    [
      'a durability there is not',
      own({ dataDir: 'd', durability: 'all' }),
      about('durability', "'all' is not one of f"),
    ],
    [
      'messageMemory in words',
      own({ dataDir: 'd', messageMemory: '1' }),
      about('messageMemory', "'1' is a string; write the number 1$"),
    ],
    ['diskFreeLimit below 0', own({ dataDir: 'd', diskFreeLimit: -1 }), about('diskFreeLimit', '-1 is less than 0')],
    ...(['durability', 'messageMemory', 'diskFreeLimit'] as const).map(
      (option) =>
        [
          `${option} without a directory`,
          own({ [option]: option === 'durability' ? 'os' : 5 }),
          new RegExp(`^option '${option}' of embedded\\(\\) needs option 'dataDir': write embedded\\(\\{ dataDir: `),
        ] as const,
    ),
    [
      'listen of a port',
      own({ listen: 5672 }),
      about('listen', '5672 is not an object of options; write \\{ amqp: \\{ port: 5672 \\} \\}'),
    ],
    ['listen of true', own({ listen: true }), about('listen', 'true is not an object of options')],
    ['listen, a port misplaced', own({ listen: { port: 5672 } }), /'port' is no option; there are amqp, http, /],
    [
      'listen.amqp of a port',
      own({ listen: { amqp: 5672 } }),
      /^option 'listen\.amqp' of embedded\(\): .* write \{ port: 5672 \}/,
    ],
    [
      'listen.amqp, a port in words',
      own({ listen: { amqp: { port: '5672' } } }),
      /^option 'listen\.amqp\.port' of embedded\(\): '5672' is a string; write the number 5672/,
    ],
    ['listen.amqp, a port too high', own({ listen: { amqp: { port: 70_000 } } }), /70000 is not between 0 and 65535/],
    ['listen.http, a misspelt option', own({ listen: { http: { prot: 1 } } }), /did you mean 'port'\?/],
    [
      'listen.audit without http',
      own({ listen: { audit: 'a' } }),
      /'audit' is about the port of option 'listen\.http'/,
    ],
    [
      'consumerTimeout without a unit',
      own({ consumerTimeout: '30' }),
      /option 'consumerTimeout' of embedded\(\): '30' has no unit/,
    ],
    ['consumerTimeout of 0', own({ consumerTimeout: 0 }), /0 is less than 1000 ms; write false for no limit/],
    [
      'consumerTimeout of true',
      own({ consumerTimeout: true }),
      /true is no duration; write milliseconds, a string such as '30m', or false/,
    ],
    [
      'deadLetterRetryAfter of 0',
      own({ deadLetterRetryAfter: 0 }),
      /'deadLetterRetryAfter' .*: 0 is less than 1000 ms/,
    ],
    ['listen.memoryLimit in words', own({ listen: { memoryLimit: '1 GB' } }), /'1 GB' is neither a share of memory/],
    ['listen.memoryLimit of 0', own({ listen: { memoryLimit: 0 } }), /0 is neither a share of memory/],
    ['listen.users of an object', own({ listen: { users: { name: 'a' } } }), /is not a list of users/],
    [
      'listen.users, no password',
      own({ listen: { users: [{ name: 'a' }] } }),
      /^option 'listen\.users\[0\]\.password' of embedded\(\) is missing; write a string$/,
    ],
    [
      'listen.users, no name',
      own({ listen: { users: [{ password: 'p' }] } }),
      /^option 'listen\.users\[0\]\.name' of embedded\(\) is missing; write a string$/,
    ],
    [
      'listen.users, a password that is none',
      own({ listen: { users: [{ name: 'a', password: 1234 }] } }),
      /^option 'listen\.users\[0\]\.password' of .*: 'number' is not a string/,
    ],
  ]);

  it('without the secrets in what was written', () => {
    const message = (options: unknown): string => {
      try {
        embedded(bad(options));
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error('nothing was refused');
    };
    for (const options of [
      'amqp://ada:Gimli@host',
      [{ listen: { users: [{ name: 'ada', password: 'Gimli' }] } }],
      { listen: { users: ['ada:Gimli'] } },
      { listen: { users: { ada: 'ok', password: 'Gimli' } } },
      { listen: [{ amqp: { tls: { key: 'Gimli' } } }] },
    ])
      expect(message(options)).toMatch(/^(?!.*Gimli).*embedded\(\)/);
  });
});

describe('sharedBroker() and customBackend() refuse', () => {
  const { broker, backend } = harness();
  const shared = (options: unknown) => () => sharedBroker(broker, bad(options));
  refuses([
    [
      'a broker that is a port',
      () => sharedBroker(bad(5672)),
      /^sharedBroker\(\): 'number' is no Broker of dlx-broker\/engine/,
    ],
    ['a backend in its place', () => sharedBroker(bad(backend)), /it has no method virtualHost/],
    ['what is no object', shared('shop'), /'shop' is not an object of options; write \{ vhost: 'shop' \}/],
    ['null', shared(null), /null is not an object/],
    [
      'a data directory',
      shared({ dataDir: './data' }),
      /^sharedBroker\(\): 'dataDir' is an option of embedded\(\), which makes a broker; this one is made by its owner$/,
    ],
    ['an option misspelt', shared({ vhots: 'x' }), /did you mean 'vhost'\? there are vhost, user, listen/],
    ['an option of the transport', shared({ retry: {} }), /'retry' is an option of forRoot\(\)/],
    ['a user of a number', shared({ user: 5 }), /^option 'user' of sharedBroker\(\): 5 is not a string/],
    [
      'a backend that is an address',
      () => customBackend(bad('amqp://')),
      /^customBackend\(\): 'string' is no Backend: it has no method connect/,
    ],
  ]);
});

it('what does not belong together has no type', () => {
  expectTypeOf<{ dataDir: string; durability: 'os' }>().toExtend<EmbeddedBrokerOptions>();
  expectTypeOf<{ dataDir: string | undefined }>().toExtend<EmbeddedBrokerOptions>();
  expectTypeOf<{ durability: 'os' }>().not.toExtend<EmbeddedBrokerOptions>();
  expectTypeOf<{ messageMemory: number }>().not.toExtend<EmbeddedBrokerOptions>();
  expectTypeOf<{ dataDir: undefined; diskFreeLimit: number }>().not.toExtend<EmbeddedBrokerOptions>();
  expectTypeOf<{ http: { port: 0 }; audit: string }>().toExtend<ListenOptions>();
  expectTypeOf<{ amqp: { port: 0 }; audit: string }>().not.toExtend<ListenOptions>();
  expectTypeOf<{ kind: 'embedded'; options: object }>().not.toExtend<BrokerChoice>();
  expectTypeOf<{ dataDir: string }>().not.toExtend<SharedBrokerOptions>();
});

describe('rabbitmq()', () => {
  it('takes promises that reject before the first attempt to connect: no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.prependListener('unhandledRejection', note);
    try {
      const fail = (): Promise<never> => Promise.reject(new Error('the secrets are locked'));
      rabbitmq({ urls: fail(), credentials: fail() });
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(unhandled).toEqual([]);
  });
});
