import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { withCommonReads } from '../../libs/dlx-broker/src/amqp/server/acceptor.js';
import { readBuffer } from '../../libs/dlx-broker/src/amqp/wire/index.js';
import { WireConnection } from '../contract/wire/connection.js';
import { RawPeer } from '../contract/wire/raw-peer.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

const houses: AmqpHouse[] = [];
afterEach(() => Promise.all(houses.splice(0).map((house) => house.close())));

async function open(): Promise<AmqpHouse> {
  const house = await amqpHouse();
  houses.push(house);
  return house;
}

describe('all connections read into one buffer', () => {
  it('which this version of node fills for an accepted socket', async () => {
    const sockets: Socket[] = [];
    const reads: Buffer[] = [];
    const server = createServer({ pauseOnConnect: true }, (accepted) => {
      const socket = withCommonReads(accepted);
      expect(socket).not.toBe(accepted);
      sockets.push(socket.on('data', (bytes) => void reads.push(bytes as Buffer)));
    }).listen(0, '127.0.0.1');
    await until(() => server.listening);
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('one');
    await until(() => reads.length === 1);
    expect(reads[0]?.toString()).toBe('one');
    expect(reads[0]?.buffer).toBe(readBuffer.buffer);
    client.end();
    await until(() => sockets[0]?.destroyed === true);
    server.close();
  });

  it.each([
    ['Bun', {}],
    ['another runtime', undefined],
  ])('but not on %s, where a socket has no handle that can be passed on', async (_, handle) => {
    const reads: Buffer[] = [];
    const server = createServer({ pauseOnConnect: true }, (accepted) => {
      const socket = new Proxy(accepted, {
        get: (target, name) => {
          const value: unknown = name === '_handle' ? handle : Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
      withCommonReads(socket).on('data', (bytes) => void reads.push(bytes as Buffer));
    }).listen(0, '127.0.0.1');
    await until(() => server.listening);
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('one');
    await until(() => reads.length === 1);
    expect(reads[0]?.buffer).not.toBe(readBuffer.buffer);
    client.destroy();
    server.close();
  });

  it.each([1, 100, 5_000, 40_000, 65_000, 131_000, 300_000])(
    'and a body of %i bytes stays what it was',
    async (size) => {
      const house = await open();
      const [one, other] = await Promise.all([WireConnection.open(house.wire), WireConnection.open(house.wire)]);
      const [mine, theirs] = [await one.openChannel(), await other.openChannel()];
      await mine.call('queue.declare', { queue: 'q' });
      const length = (): number | undefined => house.broker.virtualHost('/').queues.get('q')?.length;
      mine.publish({ exchange: '', key: 'q' }, { contentType: 'mine' }, Buffer.alloc(size, 'm'));
      await until(() => length() === 1);
      theirs.publish({ exchange: '', key: 'q' }, { contentType: 'them' }, Buffer.alloc(300_000, 't'));
      await until(() => length() === 2);
      const got = await mine.call('basic.get', { queue: 'q', noAck: true });
      expect(got).toMatchObject({ properties: { contentType: 'mine' } });
      expect((got as unknown as { body: Buffer }).body.equals(Buffer.alloc(size, 'm'))).toBe(true);
      one.drop();
      other.drop();
    },
  );

  it('also if a protocol header comes in two parts', async () => {
    const { port, listener } = await open();
    const [one, other] = await Promise.all([RawPeer.connect('127.0.0.1', port), RawPeer.connect('127.0.0.1', port)]);
    one.send(Buffer.from('AMQ'));
    await until(() => [...listener.connections].some(({ socket }) => socket.bytesRead === 3));
    other.send(Buffer.from('XXXX'));
    await other.ended;
    one.send(Buffer.from([0x50, 0, 0, 9, 1]));
    expect(await one.next()).toMatchObject({ type: 1, channel: 0 }); // connection.start
    one.socket.destroy();
  });
});

it('a client that sends much leaves every turn to the others as well', async () => {
  const house = await open();
  const connection = await WireConnection.open(house.wire);
  const [served] = house.listener.connections;
  let ofTurn = 0;
  let most = 0;
  let all = 0;
  served?.socket.on('data', ({ length }) => {
    all += length;
    ofTurn += length;
    most = Math.max(most, ofTurn);
  });
  const heartbeats = Buffer.alloc(4_000_000, Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]));
  connection.socket.write(heartbeats);
  while (all < heartbeats.length) {
    await new Promise((resolve) => setImmediate(resolve));
    ofTurn = 0;
  }
  expect(most).toBeLessThan(5 * readBuffer.length);
  connection.drop();
});
