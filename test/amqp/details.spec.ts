import amqplib from 'amqplib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AmqpError, type ClientDetails } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { WireConnection } from '../contract/wire/connection.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

let harness: AmqpHouse;
beforeEach(async () => void (harness = await amqpHouse()));
afterEach(() => harness.close());

const detailsOf = ({ broker }: AmqpHouse): ClientDetails => {
  const [connection] = broker.virtualHost('/').connections;
  if (connection?.client === undefined) throw new Error('nobody is connected');
  return connection.client;
};

describe('the broker knows of a client', () => {
  it('its name, its addresses, and the negotiated values', async () => {
    const before = Date.now();
    const connection = await amqplib.connect(`${harness.url}?frameMax=8192&channelMax=99&heartbeat=7`, {
      clientProperties: { connection_name: 'the till' },
    });
    const details = detailsOf(harness);
    expect(details.name).toBe(`127.0.0.1:${details.peerPort} -> 127.0.0.1:${harness.port}`);
    expect(details).toMatchObject({
      host: '127.0.0.1',
      port: harness.port,
      peerHost: '127.0.0.1',
      protocol: 'AMQP 0-9-1',
      authMechanism: 'PLAIN',
      isTls: false,
      tls: undefined,
      channelMax: 99,
      frameMax: 8192,
      timeout: 7,
      userProvidedName: 'the till',
    });
    expect(details.connectedAt).toBeGreaterThanOrEqual(before);
    expect(details.connectedAt).toBeLessThanOrEqual(Date.now());
    expect(details.properties.get('product')).toEqual({ type: 'S', value: 'amqplib' });
    expect(details.state()).toBe('running');
    await connection.close();
  });

  it('how much has crossed the wire, to the byte', async () => {
    const connection = await WireConnection.open(harness.wire);
    const channel = await connection.openChannel();
    await channel.call('queue.declare', { queue: 'q' });
    channel.publish({ exchange: '', key: 'q' }, {}, Buffer.alloc(100_000));
    await channel.call('basic.get', { queue: 'q' });
    const { socket } = connection;
    await until(() => detailsOf(harness).traffic().recvOct === socket.bytesWritten);
    await until(() => detailsOf(harness).traffic().sendOct === socket.bytesRead);
    const { recvOct, recvCnt, sendOct, sendCnt, sendPend } = detailsOf(harness).traffic();
    expect(recvOct).toBeGreaterThan(100_000);
    expect(sendOct).toBeGreaterThan(100_000);
    // Header, start-ok, tune-ok and open, channel, declare, publish, get came one after the other.
    expect(recvCnt).toBeGreaterThanOrEqual(6);
    expect(sendCnt).toBeGreaterThanOrEqual(6);
    expect(sendPend).toBe(0);
    connection.drop();
  });

  it('that it does not read: what waits to be sent, and flow when that is far too much', async () => {
    const flooded = await amqpHouse({ limits: { unread: 50_000 } });
    const connection = await WireConnection.open(flooded.wire);
    const channel = await connection.openChannel();
    await channel.call('queue.declare', { queue: 'q' });
    channel.publish({ exchange: '', key: 'q' }, {}, Buffer.alloc(120_000));
    connection.socket.pause();
    for (let tag = 1; tag <= 200; tag++) {
      channel.send('basic.get', { queue: 'q' });
      channel.send('basic.reject', { deliveryTag: tag, requeue: true });
    }
    await until(() => detailsOf(flooded).state() === 'flow');
    expect(detailsOf(flooded).traffic().sendPend).toBeGreaterThan(16 * 50_000);
    connection.socket.resume();
    await until(() => detailsOf(flooded).state() === 'running');
    connection.drop();
    await flooded.close();
  });
});

it('a connection is closed by an operator with 320 and his words', async () => {
  const connection = await WireConnection.open(harness.wire);
  const [engine] = harness.broker.virtualHost('/').connections;
  engine?.force(new AmqpError('CONNECTION_FORCED', 'Closed via management plugin'));
  const { code, text, classId, methodId } = await connection.ended;
  expect([code, text, classId, methodId]).toEqual([320, 'CONNECTION_FORCED - Closed via management plugin', 0, 0]);
  await until(() => harness.listener.connections.size === 0);
  expect(harness.broker.virtualHost('/').connections.size).toBe(0);
});
