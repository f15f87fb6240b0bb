import { afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/index.js';
import { type Login, LoginThrottle } from '../../libs/dlx-broker/src/users/index.js';
import { bool, table } from '../../libs/dlx-broker/src/message/index.js';
import { attempt, hard } from '../contract/contract.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { readMethod, writeMethod } from '../contract/wire/methods.js';
import { RawPeer } from '../contract/wire/raw-peer.js';
import { type AmqpHouse, amqpHouse, until } from './house.js';

const houses: AmqpHouse[] = [];
afterEach(() => Promise.all(houses.splice(0).map((house) => house.close())));

/** A house whose throttle knows only the time it is told, and what became known of its logins. */
async function open(options: ListenOptions = {}) {
  const world = { time: 0, notices: [] as string[], looked: [] as Login[] };
  const house = await amqpHouse({
    limits: { silence: 200 },
    throttle: new LoginThrottle(() => world.time),
    notice: (text) => world.notices.push(text),
    authenticate: (login) => {
      world.looked.push(login);
      return login.password === 'right';
    },
    ...options,
  });
  houses.push(house);
  house.broker.access.setUser('ada');
  house.broker.access.setPermissions('ada', '/', { configure: '.*', write: '.*', read: '.*' });
  const login = (password: string, user = 'ada'): Promise<unknown> =>
    attempt(WireConnection.open({ ...house.wire, user, password }).then((connection) => connection.drop()));
  return { house, world, login };
}

const refused = hard(
  403,
  '0.0',
  'Login was refused using authentication mechanism PLAIN. For details see the broker logfile.',
);

describe('who fails to log in again and again', () => {
  it('has to wait before a password is looked at again, and does not see why', async () => {
    const { world, login } = await open();
    for (let count = 0; count < 5; count++) expect(await login(`wrong ${count}`)).toEqual(refused);
    expect(world.looked).toHaveLength(5);
    // Refused the same way, though nobody looks.
    expect(await login('right')).toEqual(refused);
    expect(world.looked).toHaveLength(5);
    world.time += 1_000;
    expect(await login('right')).toBe('ok');
    // Who is known again starts anew.
    expect(await login('wrong')).toEqual(refused);
    expect(await login('right')).toBe('ok');
  });

  it('does not keep others waiting', async () => {
    const { house, login } = await open();
    house.broker.access.setUser('bob');
    house.broker.access.setPermissions('bob', '/', { configure: '.*', write: '.*', read: '.*' });
    for (let count = 0; count < 6; count++) await login('wrong');
    expect(await login('right')).toEqual(refused);
    expect(await login('right', 'bob')).toBe('ok');
  });

  it('is told to the operator in one line each, without the password', async () => {
    const { world, login } = await open();
    for (let count = 0; count < 6; count++) await login('secret');
    await login('secret', 'two\nlines');
    const invalid = 'PLAIN login refused: user "ada" at 127.0.0.1 - invalid credentials';
    expect(world.notices).toEqual([
      ...Array.from({ length: 5 }, () => invalid),
      'PLAIN login refused: user "ada" at 127.0.0.1 - too many failures, 1 s to wait',
      'PLAIN login refused: user "two\\nlines" at 127.0.0.1 - invalid credentials',
    ]);
  });
});

describe('a refused login', () => {
  /** @returns the methods that are heard, and milliseconds from start-ok to the end of the socket */
  async function refusal(port: number, isTold: boolean): Promise<{ heard: string[]; lasted: number }> {
    const peer = await RawPeer.connect('127.0.0.1', port);
    peer.send(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]));
    await peer.next();
    const begun = performance.now();
    const capabilities = new Map([['authentication_failure_close', bool(isTold)]]);
    const args = {
      properties: new Map([['capabilities', table(capabilities)]]),
      mechanism: 'PLAIN',
      response: '\0ada\0wrong',
      locale: 'en_US',
    };
    peer.send(writeFrame(1, 0, writeMethod('connection.start-ok', args)));
    const heard = isTold ? [readMethod((await peer.next()).payload).name] : [];
    await peer.ended;
    return { heard, lasted: performance.now() - begun };
  }

  it.each([
    [true, ['connection.close']],
    [false, []],
  ])('ends the socket after a silence; whether it is told (%s) is up to the client', async (isTold, heard) => {
    const { house } = await open();
    const { heard: told, lasted } = await refusal(house.port, isTold);
    expect(told).toEqual(heard);
    expect(lasted).toBeGreaterThan(190);
    await until(() => house.listener.connections.size === 0);
  });
});
