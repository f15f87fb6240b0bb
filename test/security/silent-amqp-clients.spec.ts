import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { WireConnection } from '../contract/wire/connection.js';

const silent: Socket[] = [];
let served: Served;
afterEach(async () => {
  for (const socket of silent.splice(0)) socket.destroy();
  await served.close();
});

const open = async (limits: object): Promise<void> => {
  served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, limits });
};

/** @returns when the system has connected them */
async function besiege(count: number): Promise<void> {
  const sockets = Array.from({ length: count }, () => connect(served.amqp.port, '127.0.0.1').on('error', () => {}));
  silent.push(...sockets);
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
}

/** @returns how many connections there were when a client had logged in */
async function login(): Promise<number> {
  const wire = { host: '127.0.0.1', port: served.amqp.port, vhost: '/', user: 'guest', password: 'guest' };
  const connection = await WireConnection.open(wire);
  const { size } = served.amqp.connections;
  await connection.close();
  return size;
}

describe('silent AMQP connections', () => {
  it('that fill the port keep no client out: the oldest of them makes room at once', async () => {
    await open({ connections: 300 });
    await besiege(400);
    // All silent ones end after ten seconds: the client did not wait for that.
    expect(await login()).toBeGreaterThan(250);
    await expect.poll(() => served.amqp.connections.size).toBeLessThanOrEqual(300);
  });

  it('of one address are no more than it may have, as soon as they have had their time', async () => {
    await open({ pendingLoginsOfAddress: 50 });
    await besiege(200);
    // A crowd of clients that come together is no attack.
    await expect.poll(() => served.amqp.connections.size).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect(await login()).toBeGreaterThan(40);
    await expect.poll(() => served.amqp.connections.size).toBeLessThanOrEqual(50);
  });

  it('leave those alone that have logged in', async () => {
    await open({ connections: 60 });
    const wire = { host: '127.0.0.1', port: served.amqp.port, vhost: '/', user: 'guest', password: 'guest' };
    const members = await Promise.all(Array.from({ length: 20 }, () => WireConnection.open(wire)));
    await besiege(200);
    for (const member of members) await (await member.openChannel()).call('queue.declare', { queue: 'q' });
    await Promise.all(members.map((member) => member.close()));
  });
});
