import { int64, type FieldTable } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { args, attempt, hard, onTheWire, since4, soft, type Case } from '../contract.js';
import type { Failure } from '../failure.js';
import { WireConnection, type WireOptions } from '../wire/connection.js';
import { writeFrame } from '../wire/frames.js';
import { readMethod, writeMethod } from '../wire/methods.js';
import { writeContentHeader } from '../wire/properties.js';
import { RawPeer } from '../wire/raw-peer.js';

const protocolHeader = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

/** Opens a connection, lets it do wrong, and says how it ended. */
async function endOf(wire: WireOptions, wrong: (connection: WireConnection) => unknown): Promise<unknown> {
  const connection = await WireConnection.open(wire);
  await wrong(connection);
  const failure: Failure = await connection.ended;
  return attempt(Promise.reject(failure));
}

const publish = writeMethod('basic.publish', { exchange: '', key: 'nobody' });
const header = (size: number) => writeContentHeader({}, size);

const violations: readonly (readonly [
  name: string,
  wrong: (connection: WireConnection) => unknown,
  expected: unknown,
])[] = [
  [
    'rule T4: a channel is opened once',
    async (connection) => {
      await connection.openChannel();
      connection.send(1, 'channel.open', {});
    },
    { code: 504, text: "CHANNEL_ERROR - second 'channel.open' seen", at: '20.10', closes: 'connection' },
  ],
  [
    'rule T4: a channel must be opened',
    (connection) => connection.send(5, 'queue.declare', { queue: 'q' }),
    { code: 504, text: "CHANNEL_ERROR - expected 'channel.open'", at: '50.10', closes: 'connection' },
  ],
  [
    'rule T4: channel 0 is for the connection',
    (connection) => connection.send(0, 'queue.declare', { queue: 'q' }),
    {
      code: 504,
      text: 'CHANNEL_ERROR - unexpected method in connection state running',
      at: '50.10',
      closes: 'connection',
    },
  ],
  [
    'rule T5: a header where a method is due',
    async (connection) => {
      await connection.openChannel();
      connection.frame(2, 1, header(0));
    },
    {
      code: 505,
      text: 'UNEXPECTED_FRAME - expected method frame, got non method frame instead',
      at: '0.0',
      closes: 'connection',
    },
  ],
  [
    'rule T5: a body where a header is due',
    async (connection) => {
      await connection.openChannel();
      connection.frame(1, 1, publish);
      connection.frame(3, 1, Buffer.from('body'));
    },
    {
      code: 505,
      text: 'UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead',
      at: '60.40',
      closes: 'connection',
    },
  ],
  [
    'rule T5: a header of another class',
    async (connection) => {
      await connection.openChannel();
      const wrong = Buffer.from(header(0));
      wrong.writeUInt16BE(50, 0);
      connection.frame(1, 1, publish);
      connection.frame(2, 1, wrong);
    },
    {
      code: 505,
      text: 'UNEXPECTED_FRAME - expected content header for class 60, got one for class 50 instead',
      at: '60.40',
      closes: 'connection',
    },
  ],
];

/** Section T: the wire. */
export const wireCases: readonly Case[] = [
  ...['HTTP', 'GET / HTTP/1.1\r\n\r\n'].map((text) =>
    onTheWire(
      `rule T1: ${JSON.stringify(text)} is answered with the right protocol header`,
      async ({ host, port }) => {
        const peer = await RawPeer.connect(host, port);
        peer.send(Buffer.from(text.padEnd(8)));
        return [...(await peer.ended)];
      },
      [...protocolHeader],
    ),
  ),
  onTheWire(
    'rule T2: the properties of the server, and its offers',
    async ({ host, port, user, password }) => {
      const peer = await RawPeer.connect(host, port);
      peer.send(protocolHeader);
      const start = readMethod((await peer.next()).payload).args as unknown as {
        readonly [name: string]: unknown;
        readonly properties: FieldTable;
      };
      const response = `\0${user}\0${password}`;
      const startOk = writeMethod('connection.start-ok', { mechanism: 'PLAIN', response, locale: 'en_US' });
      peer.send(writeFrame(1, 0, startOk));
      const tune = readMethod((await peer.next()).payload).args;
      peer.socket.destroy();
      const { major, minor, properties, mechanisms, locales } = start;
      const capabilities = properties.get('capabilities');
      return {
        version: [major, minor, properties.get('version')?.value],
        // 4 offers ANONYMOUS too, a login without a password.
        mechanisms: String(mechanisms).replace('ANONYMOUS', '').trim().split(/ +/).sort(),
        locales: String(locales),
        capabilities: (capabilities?.type === 'F' ? [...capabilities.value] : [])
          .map(([name, { value }]) => `${name} ${value}`)
          .sort(),
        tune,
      };
    },
    {
      version: [0, 9, since4('3.10.8', '4.3.6')],
      mechanisms: ['AMQPLAIN', 'PLAIN'],
      locales: 'en_US',
      capabilities: [
        'authentication_failure_close true',
        'basic.nack true',
        'connection.blocked true',
        'consumer_cancel_notify true',
        'consumer_priorities true',
        'direct_reply_to true',
        'exchange_exchange_bindings true',
        'per_consumer_qos true',
        'publisher_confirms true',
      ],
      tune: { channelMax: 2047, frameMax: 131_072, heartbeat: 60 },
    },
  ),
  onTheWire(
    'rule T3: a wrong password is a 403 for clients with the capability',
    async (wire) => attempt(WireConnection.open({ ...wire, password: 'wrong' })),
    hard(403, '0.0', 'Login was refused using authentication mechanism PLAIN. For details see the broker logfile.'),
  ),
  onTheWire(
    'rule T3: a virtual host that is not there',
    async (wire) => attempt(WireConnection.open({ ...wire, vhost: 'not there' })),
    hard(530, '10.40', 'vhost not there not found'),
  ),
  ...violations.map(([name, wrong, expected]) => onTheWire(name, (wire) => endOf(wire, wrong), expected)),
  onTheWire(
    'rule T4: open channels are counted against the negotiated maximum',
    async (wire) => {
      const connection = await WireConnection.open({ ...wire, channelMax: 1 });
      await connection.openChannel();
      return attempt(connection.openChannel());
    },
    hard(530, '0.0', 'number of channels opened (1) has reached the negotiated channel_max (1)'),
  ),
  onTheWire(
    'rule T5: a frame that does not end as frames do is a frame error',
    async (wire) => {
      const failure = await endOf(wire, async (connection) => {
        await connection.openChannel();
        const frame = writeFrame(1, 1, writeMethod('channel.close', { code: 200 }));
        frame[frame.length - 1] = 0;
        connection.write(frame);
      });
      return (failure as { code: number }).code;
    },
    501,
  ),
  ...(
    [
      [4_095, false],
      [8_191, since4(true, false)],
      [8_192, true],
    ] as const
  ).map(([frameMax, isTaken]) =>
    onTheWire(
      `rule T6: a frame-max of ${frameMax} in tune-ok`,
      async (wire) => {
        const opened = WireConnection.open({ ...wire, frameMax });
        return (await attempt(opened.then((connection) => connection.close()))) === 'ok';
      },
      isTaken,
    ),
  ),
  onTheWire(
    'rule T6: bodies are cut to the frame-max, and may come in any number of frames, empty ones too',
    async (wire) => {
      const connection = await WireConnection.open({ ...wire, frameMax: 8192 });
      const channel = await connection.openChannel();
      await channel.call('queue.declare', { queue: 'q' });
      connection.frame(1, 1, writeMethod('basic.publish', { exchange: '', key: 'q' }));
      connection.frame(2, 1, header(20_000));
      for (const size of [0, 1, 8184, 0, 8184, 3631]) connection.frame(3, 1, Buffer.alloc(size, 'x'));
      const sizes: number[] = [];
      const receive = channel.receive.bind(channel);
      channel.receive = (frame) => {
        if (frame.type === 3) sizes.push(frame.payload.length);
        receive(frame);
      };
      const got = await channel.call('basic.get', { queue: 'q', noAck: true });
      await connection.close();
      return [got.body?.length, sizes];
    },
    [20_000, [8184, 8184, 3632]],
  ),
  onTheWire(
    'rule T6: an empty body has no body frame',
    async (wire) => {
      const connection = await WireConnection.open(wire);
      const channel = await connection.openChannel();
      await channel.call('queue.declare', { queue: 'q' });
      channel.publish({ exchange: '', key: 'q' }, {}, Buffer.alloc(0));
      const types: number[] = [];
      const receive = channel.receive.bind(channel);
      channel.receive = (frame) => {
        types.push(frame.type);
        receive(frame);
      };
      await channel.call('basic.get', { queue: 'q', noAck: true });
      await connection.close();
      return types;
    },
    [1, 2],
  ),
  onTheWire(
    'rule T7: with nowait there is no answer, but the deed is done',
    async (wire) => {
      const connection = await WireConnection.open(wire);
      const channel = await connection.openChannel();
      const answers: string[] = [];
      channel.listener = ({ name }) => answers.push(name);
      const nowait = true;
      channel.send('exchange.declare', { exchange: 'x', type: 'fanout', nowait });
      channel.send('queue.declare', { queue: 'q', nowait });
      channel.send('queue.bind', { queue: 'q', exchange: 'x', nowait });
      channel.send('basic.consume', { queue: 'q', consumerTag: 'c', noAck: true, nowait });
      channel.send('confirm.select', { nowait });
      channel.publish({ exchange: 'x', key: '' }, {}, Buffer.from('one'));
      // The first answer that comes must be the one to the first request that wants one.
      const { name, args: counts } = await channel.call('queue.declare', { queue: 'q', passive: true });
      channel.send('basic.cancel', { consumerTag: 'c', nowait });
      channel.send('queue.delete', { queue: 'q', nowait });
      channel.send('exchange.delete', { exchange: 'x', nowait });
      const gone = await attempt(channel.call('queue.declare', { queue: 'q', passive: true }));
      await connection.close();
      return [name, counts['consumerCount'], answers.sort(), (gone as { code: number }).code];
    },
    ['queue.declare-ok', 1, ['basic.ack', 'basic.deliver'], 404],
  ),
  onTheWire(
    'rule T7: errors close the channel in spite of nowait',
    async (wire) => {
      const connection = await WireConnection.open(wire);
      const channel = await connection.openChannel();
      channel.send('queue.declare', { queue: 'missing', passive: true, nowait: true });
      const failure = (await attempt(channel.call('basic.qos', { prefetchCount: 1 }))) as { text: string };
      await connection.close();
      return { ...failure, text: failure.text.replace(wire.vhost, 'V') };
    },
    soft(404, '50.10', "no queue 'missing' in vhost 'V'"),
  ),
  onTheWire(
    'rule Q9: what comes after a soft error is ignored until close-ok, then the number can be opened again',
    async (wire) => {
      const connection = await WireConnection.open(wire);
      const channel = await connection.openChannel();
      channel.send('basic.ack', { deliveryTag: 9 });
      const late = attempt(channel.call('queue.declare', { queue: 'late' }));
      const code = ((await late) as { code: number }).code;
      const again = await connection.openChannel(1);
      const { code: missing } = (await attempt(again.call('queue.declare', { queue: 'late', passive: true }))) as {
        code: number;
      };
      await connection.close();
      return [code, missing];
    },
    [406, 404],
  ),
  onTheWire(
    'rule Q15: a delivery of a quorum queue that a cancel overtakes returns to its queue, and counts',
    async (wire) => {
      const connection = await WireConnection.open(wire);
      const channel = await connection.openChannel();
      let delivered = 0;
      const first = new Promise<void>((resolve) => {
        channel.listener = ({ name }) => {
          if (name === 'basic.deliver') delivered++;
          resolve();
        };
      });
      const quorum = args({ 'x-queue-type': 'quorum' });
      await channel.call('queue.declare', { queue: 'q', durable: true, arguments: quorum });
      await channel.call('basic.consume', { queue: 'q', consumerTag: 'c' });
      channel.publish({ exchange: '', key: 'q' }, {}, Buffer.from('m'));
      await first;
      const reject = writeFrame(1, channel.number, writeMethod('basic.reject', { deliveryTag: 1, requeue: true }));
      const cancel = writeFrame(1, channel.number, writeMethod('basic.cancel', { consumerTag: 'c', nowait: true }));
      connection.write(Buffer.concat([reject, cancel]));
      let got = await channel.call('basic.get', { queue: 'q' });
      while (got.name === 'basic.get-empty' && delivered === 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        got = await channel.call('basic.get', { queue: 'q' });
      }
      await connection.close();
      return [delivered, got.name, got.properties?.headers?.get('x-delivery-count')];
    },
    [1, 'basic.get-ok', since4(int64(2), int64(1))], // rule W6: only the rejection counts since 4
  ),
];
