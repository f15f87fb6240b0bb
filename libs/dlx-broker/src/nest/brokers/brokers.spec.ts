import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { refuses } from '../../../../../test/harnesses/refuses.js';
import { EmbeddedBackend } from '../../backends/index.js';
import { harness, ManualClock } from '../../testing.js';
import type { Connected } from '../module/options.js';
import type { BrokerChoice } from './made.js';
import { connect } from './connect.js';
import { customBackend, sharedBroker, type SharedBrokerOptions } from './given.js';
import { embedded, type EmbeddedBrokerOptions } from './embedded.js';
import type { ListenOptions } from './listen.js';
import { rabbitmq } from './rabbitmq.js';

const bad = (value: unknown): never => value as never;

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
  const own = (options: unknown) => embedded(bad(options));
  refuses(own, [
    ['./data', /embedded\(\): '\.\/data' is not an object of options; write embedded\(\{/],
    [null, /null is not an object/],
    [
      { dataDri: './data' },
      /^embedded\(\): 'dataDri' .* did you mean 'dataDir'\? there are rabbitmq, dataDir, .*listen$/,
    ],
    [{ dataDirectory: './data' }, /'dataDirectory' is no option; did you mean 'dataDir'\?/],
    [{ message: 5 }, /'message' is no option; did you mean 'messageMemory'\?/],
    [{ prefetch: 5 }, /is an option of forRoot\(\): forRoot\(\{ broker: embedded\(\.\.\.\), prefetch \}\)$/],
    [{ vhost: '' }, /'vhost' of .*: '' is empty/],
    [{ user: {} }, /'user' of .*: \{\} is not a string/],
    [{ dataDir: '' }, /'dataDir' of .*: '' is empty/],
    [{ rabbitmq: 4 }, /'rabbitmq' of .*: 4 is not one of 4, 3.10/],
    [{ clock: 5 }, /'clock' of .*: 'number' is no Clock: it has no method now/],
    [{ dataDir: 'd', durability: 'all' }, /'durability' of .*: 'all' is not one of f/],
    [{ dataDir: 'd', messageMemory: '1' }, /'messageMemory' of .*: '1' is a string; write the number 1$/],
    [{ dataDir: 'd', diskFreeLimit: -1 }, /'diskFreeLimit' of .*: -1 is less than 0/],
    [{ listen: 5672 }, /'listen' of .*: 5672 is not an object of options; write \{ amqp: \{ port: 5672 \} \}/],
    [{ listen: true }, /'listen' of .*: true is not an object of options/],
    [{ listen: { port: 5672 } }, /'port' is no option; there are amqp, http, /],
    [{ listen: { amqp: 5672 } }, /^option 'listen\.amqp' of embedded\(\): .* write \{ port: 5672 \}/],
    [
      { listen: { amqp: { port: '5672' } } },
      /^option 'listen\.amqp\.port' of .*: '5672' is a string; write the number 5672/,
    ],
    [{ listen: { amqp: { port: 70_000 } } }, /70000 is not between 0 and 65535/],
    [{ listen: { http: { prot: 1 } } }, /did you mean 'port'\?/],
    [{ listen: { audit: 'a' } }, /'audit' is about the port of option 'listen\.http'/],
    [{ consumerTimeout: '30' }, /option 'consumerTimeout' of embedded\(\): '30' has no unit/],
    [{ consumerTimeout: 0 }, /0 is less than 1000 ms; write false for no limit/],
    [{ consumerTimeout: true }, /true is no duration; write milliseconds, a string such as '30m', or false/],
    [{ deadLetterRetryAfter: 0 }, /'deadLetterRetryAfter' .*: 0 is less than 1000 ms/],
    [{ listen: { memoryLimit: '1 GB' } }, /'1 GB' is neither a share of memory/],
    [{ listen: { memoryLimit: 0 } }, /0 is neither a share of memory/],
    [{ listen: { users: { name: 'a' } } }, /is not a list of users/],
    [
      { listen: { users: [{ name: 'a' }] } },
      /listen\.users\[0\]\.password' of embedded\(\) is missing; write a string$/,
    ],
    [
      { listen: { users: [{ password: 'p' }] } },
      /listen\.users\[0\]\.name' of embedded\(\) is missing; write a string$/,
    ],
    [{ listen: { users: [{ name: 'a', password: 1234 }] } }, /listen\.users\[0\]\.password' of .*: 'number' is not/],
  ]);

  it.each(['durability', 'messageMemory', 'diskFreeLimit'])('%s without a directory', (option) => {
    const text = `option '${option}' of embedded() needs option 'dataDir': write embedded({ dataDir: `;
    expect(() => own({ [option]: option === 'durability' ? 'os' : 5 })).toThrow(text);
  });

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
  const shared = (options: unknown) => sharedBroker(broker, bad(options));
  refuses(shared, [
    ['shop', /'shop' is not an object of options; write \{ vhost: 'shop' \}/],
    [null, /null is not an object/],
    [
      { dataDir: './data' },
      /'dataDir' is an option of embedded\(\), which makes a broker; this one is made by its owner$/,
    ],
    [{ vhots: 'x' }, /did you mean 'vhost'\? there are vhost, user, listen/],
    [{ retry: {} }, /'retry' is an option of forRoot\(\)/],
    [{ user: 5 }, /^option 'user' of sharedBroker\(\): 5 is not a string/],
  ]);
  refuses(
    (call: () => unknown) => call(),
    [
      [() => sharedBroker(bad(5672)), /^sharedBroker\(\): 'number' is no Broker of dlx-broker\/engine/],
      [() => sharedBroker(bad(backend)), /it has no method virtualHost/],
      [() => customBackend(bad('amqp://')), /^customBackend\(\): 'string' is no Backend: it has no method connect/],
    ],
  );
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
