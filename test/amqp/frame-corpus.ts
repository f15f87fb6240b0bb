import { type Field, Message, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import { BufferPool, FrameWriter, HeaderWriter } from '../../libs/dlx-broker/src/amqp/wire/index.js';
import { writeFrame } from '../contract/wire/frames.js';
import { type Arguments, writeMethod } from '../contract/wire/methods.js';

/** One of every type, nested too. */
export const everyField: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['t', { type: 't', value: true }],
  ['b', { type: 'b', value: -1 }],
  ['B', { type: 'B', value: 255 }],
  ['s', { type: 's', value: -300 }],
  ['u', { type: 'u', value: 65_535 }],
  ['I', { type: 'I', value: -70_000 }],
  ['i', { type: 'i', value: 4_294_967_295 }],
  ['l', { type: 'l', value: -(2n ** 63n) }],
  ['f', { type: 'f', value: 0.5 }],
  ['d', { type: 'd', value: Math.PI }],
  ['T', { type: 'T', value: 1_700_000_000 }],
  ['D', { type: 'D', value: { scale: 2, value: 314 } }],
  ['S', { type: 'S', value: 'text, é and 🐇' }],
  ['x', { type: 'x', value: new Uint8Array([0, 1, 255]) }],
  ['V', { type: 'V', value: undefined }],
  ['A', { type: 'A', value: [{ type: 'S', value: 'a' }, table(new Map([['n', { type: 'I', value: 1 }]]))] }],
  ['F', table(new Map([['inner', table(new Map([['deep', { type: 'l', value: 1 }]]))]]))],
]);

/** A frame of every kind that clients send. */
export function frameCorpus(): Buffer[] {
  const args = { arguments: everyField };
  const sent: [string, Arguments][] = [
    [
      'connection.start-ok',
      { properties: everyField, mechanism: 'PLAIN', response: '\0guest\0guest', locale: 'en_US' },
    ],
    ['connection.tune-ok', { channelMax: 2047, frameMax: 131_072, heartbeat: 60 }],
    ['connection.open', { vhost: '/' }],
    ['connection.close', { code: 200, text: 'bye' }],
    ['channel.open', {}],
    ['channel.close', { code: 200, text: 'bye' }],
    ['exchange.declare', { exchange: 'x', type: 'topic', durable: true, ...args }],
    ['exchange.bind', { destination: 'a', source: 'b', key: 'c', ...args }],
    ['queue.declare', { queue: 'q', exclusive: true, ...args }],
    ['queue.bind', { queue: 'q', exchange: 'x', key: 'k', ...args }],
    ['queue.delete', { queue: 'q', ifEmpty: true }],
    ['basic.qos', { prefetchCount: 10 }],
    ['basic.consume', { queue: 'q', consumerTag: 'c', ...args }],
    ['basic.publish', { exchange: 'x', key: 'k', mandatory: true }],
    ['basic.get', { queue: 'q' }],
    ['basic.ack', { deliveryTag: 1, multiple: true }],
    ['basic.nack', { deliveryTag: 1, multiple: true, requeue: true }],
    ['confirm.select', {}],
    ['tx.commit', {}],
  ];
  const frames = sent.map(([name, values]) =>
    writeFrame(1, name.startsWith('conn') ? 0 : 1, writeMethod(name, values)),
  );
  const written: Buffer[] = [];
  const writer = new FrameWriter(new BufferPool(), {
    write: (bytes) => written.push(Buffer.from(bytes)),
    requestFlush: () => undefined,
  });
  const properties = { headers: everyField, contentType: 'text/plain', priority: 3, timestamp: 5, messageId: 'm' };
  writer.begin(2, 1);
  new HeaderWriter().write(writer, new Message('', '', properties, Buffer.from('body')));
  writer.end();
  writer.flush();
  return [...frames, ...written, writeFrame(3, 1, Buffer.from('body')), writeFrame(8, 0, Buffer.alloc(0))];
}
