import { afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { type Login, LoginThrottle } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { turnPace } from '../../libs/dlx-broker/src/platform/index.js';
import { bool, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import { attempt, hard } from '../contract/contract.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { readMethod, writeMethod } from '../contract/wire/methods.js';
import { RawPeer } from '../contract/wire/raw-peer.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

const harnesses: AmqpHouse[] = [];
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));

/** A harness whose throttle has a clock of the test, with the notices and the logins that it checked. */
async function open(options: ListenOptions = {}) {
  const throttle: LoginThrottle = new LoginThrottle(() => world.time);
  const world = { time: 0, notices: [] as string[], looked: [] as Login[], throttle };
  const harness = await amqpHouse({
    limits: { silence: 200 },
    throttle,
    notice: (text) => world.notices.push(text),
    authenticate: (login) => {
      world.looked.push(login);
      return login.password === 'right';
    },
    ...options,
  });
  harnesses.push(harness);
  harness.broker.access.setUser('ada');
  harness.broker.access.setPermissions('ada', '/', { configure: '.*', write: '.*', read: '.*' });
  const login = (password: string, user = 'ada'): Promise<unknown> =>
    attempt(WireConnection.open({ ...harness.wire, user, password }).then((connection) => connection.drop()));
  return { harness, world, login };
}

function startOk(isTold: boolean, response = '\0ada\0wrong'): Buffer {
  const capabilities = new Map([['authentication_failure_close', bool(isTold)]]);
  const args = {
    properties: new Map([['capabilities', table(capabilities)]]),
    mechanism: 'PLAIN',
    response,
    locale: 'en_US',
  };
  return writeFrame(1, 0, writeMethod('connection.start-ok', args));
}

const refused = hard(
  403,
  '0.0',
  'Login was refused using authentication mechanism PLAIN. For details see the broker logfile.',
);

describe('a client that fails to log in again and again', () => {
  // A right password was refused here for up to a minute: any stranger could lock a user out. Now it only comes later.
  it('waits for its turn, and the right password is accepted', async () => {
    const { world, login } = await open();
    for (let count = 0; count < 5; count++) expect(await login(`wrong ${count}`)).toEqual(refused);
    world.time += 700;
    const begun = performance.now();
    const late = login('right');
    await until(() => world.throttle.waiting === 1);
    expect(world.looked).toHaveLength(5);
    expect(await late).toBe('ok');
    expect(performance.now() - begun).toBeGreaterThan(290);
    // Who is known again starts anew.
    expect(await login('wrong')).toEqual(refused);
    expect(await login('right')).toBe('ok');
  });

  it('does not keep others waiting', async () => {
    const { harness, world, login } = await open();
    harness.broker.access.setUser('bob');
    harness.broker.access.setPermissions('bob', '/', { configure: '.*', write: '.*', read: '.*' });
    for (let count = 0; count < 5; count++) await login('wrong');
    const late = login('wrong');
    await until(() => world.throttle.waiting === 1);
    expect(await login('right', 'bob')).toBe('ok');
    expect(world.throttle.waiting).toBe(1);
    expect(await late).toEqual(refused);
  });

  it('has no turn any more when it is gone', async () => {
    const { harness, world } = await open();
    const throttle = world.throttle;
    for (let count = 0; count < 5; count++)
      throttle.failed({ address: '127.0.0.1', user: 'ada', kept: undefined }, false);
    const peer = await RawPeer.connect('127.0.0.1', harness.port);
    peer.send(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]));
    await peer.next();
    peer.send(startOk(true));
    await until(() => throttle.waiting === 1);
    for (const connection of harness.listener.connections) connection.socket.destroy();
    await until(() => throttle.waiting === 0);
    expect(world.looked).toEqual([]);
  });

  it('is reported to the operator in one line each, without the password', async () => {
    const { world, login } = await open();
    for (let count = 0; count < 3; count++) await login('secret');
    await login('secret', 'two\nlines');
    const invalid = 'PLAIN login refused: user "ada" at 127.0.0.1 - invalid credentials';
    expect(world.notices).toEqual([
      ...Array.from({ length: 3 }, () => invalid),
      'PLAIN login refused: user "two\\nlines" at 127.0.0.1 - invalid credentials',
    ]);
  });
});

describe('a client whose frames or channels are refused gets no reason (rules T6, W10), so the operator gets it', () => {
  it.each([
    ['4', { frameMax: 4_096 }, 'its frame_max is 4096, and may be 8192 to 131072: set it in the client'],
    ['3.10', { frameMax: 4_095 }, 'its frame_max is 4095, and may be 4096 to 131072: set it in the client'],
    ['4', { channelMax: 0 }, 'its channel_max is 0, and may be 1 to 2047: set it in the client'],
  ] as const)('in profile %s: %o', async (rabbitmq, tuning, why) => {
    const notices: string[] = [];
    const options = { limits: { silence: 10 }, notice: (text: string) => notices.push(text) };
    const harness = await amqpHouse(options, turnPace, { rabbitmq });
    harnesses.push(harness);
    const peer = await RawPeer.connect('127.0.0.1', harness.port);
    peer.send(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]));
    await peer.next();
    peer.send(startOk(false, '\0guest\0guest'));
    await peer.next();
    const args = { channelMax: 2_047, frameMax: 131_072, heartbeat: 0, ...tuning };
    peer.send(writeFrame(1, 0, writeMethod('connection.tune-ok', args)));
    await peer.ended;
    expect(notices).toEqual([`PLAIN login refused: user "guest" at 127.0.0.1 - ${why}`]);
  });
});

describe('a refused login', () => {
  /** @returns the methods that are heard, and milliseconds from start-ok to the end of the socket */
  async function refusal(port: number, isTold: boolean): Promise<{ heard: string[]; lasted: number }> {
    const peer = await RawPeer.connect('127.0.0.1', port);
    peer.send(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]));
    await peer.next();
    const begun = performance.now();
    peer.send(startOk(isTold));
    const heard = isTold ? [readMethod((await peer.next()).payload).name] : [];
    await peer.ended;
    return { heard, lasted: performance.now() - begun };
  }

  it.each([
    [true, ['connection.close']],
    [false, []],
  ])('ends the socket after a silence; whether it is told (%s) is up to the client', async (isTold, heard) => {
    const { harness } = await open();
    const { heard: told, lasted } = await refusal(harness.port, isTold);
    expect(told).toEqual(heard);
    expect(lasted).toBeGreaterThan(190);
    await until(() => harness.listener.connections.size === 0);
  });
});
