import { describe, expect, it } from 'vitest';
import { bool, type FieldTable, int64, longstr, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import { Writer } from '../contract/wire/bytes.js';
import { writeTable } from '../contract/wire/field-table.js';
import { type Arguments, writeMethod } from '../contract/wire/methods.js';
import type { WireOptions } from '../contract/wire/connection.js';
import { product } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { Brokers } from './brokers.js';
import { turnPace } from '../../libs/dlx-broker/src/platform/index.js';
import { amqpHouse, until } from './harness.js';
import { Talk } from './talk.js';

const brokers = new Brokers();
/** Logs in with a start-ok of that many bytes. @returns the answer, or `nothing` if the socket ends */
async function answerTo(wire: WireOptions, bytes: number): Promise<string> {
  const talk = await Talk.begin(wire);
  const padded = (length: number): Arguments => ({
    mechanism: 'PLAIN',
    response: `\0${wire.user}\0${wire.password}`,
    locale: 'en_US',
    properties: new Map([['padding', longstr('x'.repeat(length))]]),
  });
  const empty = writeMethod('connection.start-ok', padded(0)).length;
  await talk.method();
  talk.say(0, 'connection.start-ok', padded(bytes - empty));
  const answer = talk.method().then(({ name }) => name);
  const said = await Promise.race([answer, talk.peer.ended.then(() => 'nothing')]);
  talk.drop();
  return said;
}

const wellTuned = { channelMax: 2047, frameMax: 131_072, heartbeat: 0 };

describe('in the handshake', () => {
  it('product, version and the other server properties are long strings', async () => {
    const said = await brokers.each(async (wire) => {
      const talk = await Talk.begin(wire);
      const { args } = await talk.method();
      talk.drop();
      const properties = [...(args['properties'] as unknown as FieldTable)];
      return properties.map(([name, { type }]) => `${name} ${type}`).sort();
    });
    const names = ['cluster_name', 'copyright', 'information', 'platform', 'product', 'version'].map((it) => `${it} S`);
    const own = ['capabilities F', ...names];
    expect(said.map((each) => each.filter((it) => it !== 'dlx_broker F'))).toEqual(brokers.same(own));
  });

  it('rule T9: only this server has a table dlx_broker, which clients of RabbitMQ ignore', async () => {
    const said = await brokers.each(async (wire) => {
      const talk = await Talk.begin(wire);
      const { args } = await talk.method();
      talk.drop();
      return (args['properties'] as unknown as FieldTable).get('dlx_broker');
    });
    const own = table(
      new Map([
        ['version', longstr(product.version)],
        ['delayed', bool(true)],
        ['replace', bool(true)],
        ['consumer_timeout', int64(1_800_000)],
        ['consumer_timeout_by_queue', bool(false)],
      ]),
    );
    expect(said).toEqual(brokers.all.map((_, index) => (index === 0 ? own : undefined)));
  });

  it('an unknown locale is accepted, and open-ok has an empty text', async () => {
    const said = await brokers.each(async (wire) => {
      const talk = await Talk.begin(wire);
      await talk.login({ locale: 'tlh' });
      await talk.method();
      talk.say(0, 'connection.tune-ok', wellTuned);
      talk.say(0, 'connection.open', { vhost: wire.vhost });
      const { payload } = await talk.frame();
      talk.say(1, 'channel.open');
      const opened = await talk.frame();
      talk.drop();
      return [[...payload], [...opened.payload]];
    });
    // channel.open-ok has a long string instead: four bytes.
    const expected = [
      [0, 10, 0, 41, 0],
      [0, 20, 0, 11, 0, 0, 0, 0],
    ];
    expect(said).toEqual(brokers.same(expected));
  });

  it('AMQPLAIN is a field table without its length', async () => {
    const said = await brokers.each(async (wire) => {
      const to = new Writer();
      writeTable(
        new Map([
          ['LOGIN', longstr(wire.user)],
          ['PASSWORD', longstr(wire.password)],
        ]),
        to,
      );
      const talk = await Talk.begin(wire);
      await talk.login({ mechanism: 'AMQPLAIN', response: to.end().subarray(4) });
      const { name } = await talk.method();
      talk.drop();
      return name;
    });
    expect(said).toEqual(brokers.same('connection.tune'));
  });

  it.concurrent.each<[string, Arguments]>([
    ['an unknown mechanism', { mechanism: 'EXTERNAL' }],
    ['PLAIN without a password', { response: '\0guest' }],
    ['AMQPLAIN of another shape', { mechanism: 'AMQPLAIN', response: 'guest' }],
    ['a wrong password of a client without the capability', { response: '\0guest\0wrong' }],
  ])('%s gets no answer, and the socket is closed after three seconds', async (_, args) => {
    const said = await Promise.all(
      brokers.all.map(async (wire) => {
        const talk = await Talk.begin(wire);
        await talk.login(args);
        return talk.silence();
      }),
    );
    for (const { lasted, said: bytes } of said) {
      expect(bytes).toBe(0);
      expect(lasted).toBeGreaterThan(2_900); // that it ends at all, the time limit of the case says
    }
  });

  it.concurrent(
    'a wrong password is a 403 at once for a client with the capability, and the socket ends after three seconds',
    async () => {
      const capabilities = table(new Map([['authentication_failure_close', bool(true)]]));
      const said = await Promise.all(
        brokers.all.map(async (wire) => {
          const talk = await Talk.begin(wire);
          const since = performance.now(); // the answer may be read late
          await talk.login({ response: '\0guest\0wrong', properties: new Map([['capabilities', capabilities]]) });
          const { name, args } = await talk.method();
          await talk.silence();
          return { name, code: args['code'], lasted: performance.now() - since };
        }),
      );
      for (const { name, code, lasted } of said) {
        expect([name, code]).toEqual(['connection.close', 403]);
        expect(lasted).toBeGreaterThan(2_900);
      }
    },
  );

  it.concurrent.each<[string, Arguments]>([
    ['frame_max 0', { frameMax: 0 }],
    ['frame_max below 4096', { frameMax: 4_095 }],
    ['frame_max above what is offered', { frameMax: 131_073 }],
    ['channel_max 0', { channelMax: 0 }],
    ['channel_max above what is offered', { channelMax: 2_048 }],
  ])('%s gets no answer', async (_, args) => {
    const said = await Promise.all(
      brokers.all.map(async (wire) => {
        const talk = await Talk.begin(wire);
        await talk.login();
        await talk.method();
        talk.say(0, 'connection.tune-ok', { ...wellTuned, ...args });
        return talk.silence();
      }),
    );
    for (const { lasted, said: bytes } of said) {
      expect(bytes).toBe(0);
      expect(lasted).toBeGreaterThan(2_900);
    }
  });

  it.concurrent('before tune a payload may have 4096 bytes', async () => {
    const said = await Promise.all(
      brokers.all.map(async (wire) => [await answerTo(wire, 4_096), await answerTo(wire, 4_097)]),
    );
    expect(said).toEqual(brokers.same(['connection.tune', 'nothing']));
  });

  it.concurrent('before tune a payload may have 8192 bytes in profile 4 (rule W10)', async () => {
    const house = await amqpHouse({ limits: { silence: 10 } }, turnPace, { rabbitmq: '4' });
    expect([await answerTo(house.wire, 8_192), await answerTo(house.wire, 8_193)]).toEqual([
      'connection.tune',
      'nothing',
    ]);
    await house.close();
  });

  it('a heartbeat above the offer is accepted', async () => {
    const talk = await Talk.open(brokers.ours.wire, {}, { heartbeat: 120 });
    const [connection] = brokers.ours.broker.virtualHost('/').connections;
    expect(connection?.client?.timeout).toBe(120);
    talk.drop();
    await until(() => brokers.ours.listener.connections.size === 0);
  });
});
