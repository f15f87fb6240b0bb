import type { Transport, TransportEvents } from '../../libs/dlx-broker/src/amqp/client/transport.js';
import { basicClass, longstr, methodIds, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import {
  BufferPool,
  frameTypes,
  FrameWriter,
  methods,
  writeProperties,
} from '../../libs/dlx-broker/src/amqp/wire/index.js';

/** Publishes that one confirm settles, and deliveries of one read, at most. */
const atOnce = 100;

/** Bytes of a delivery tag behind the consumer tag 'c1'. */
const tagAt = 7 + 4 + 3;

/**
 * A server in this process that reads no more of a message than its length: it confirms publishes, and delivers one message again and
 * again. With it the processor time of a client is measured without sockets and without the noise of a server.
 */
export class InstantServer implements Transport {
  readonly waiting = 0;
  #events!: TransportEvents;
  #hasGreeted = false;
  #published = 0;
  #confirmed = 0;
  #publishChannel = 0;
  #deliverChannel = 0;
  #delivered = 0;
  #settled = 0;
  #isAnswering = false;
  readonly #to: FrameWriter;
  readonly #deliveries: Buffer;
  readonly #size: number;

  /** @param body of each delivery */
  constructor(body: Buffer) {
    this.#to = new FrameWriter(new BufferPool(), {
      write: (bytes) => this.#said.push(Buffer.from(bytes)),
      requestFlush: noop,
    });
    this.#to.maxPayload = 131_064;
    const one = delivery(body);
    this.#size = one.length;
    this.#deliveries = Buffer.concat(Array.from({ length: atOnce }, () => one));
  }

  readonly #said: Buffer[] = [];

  attach(events: TransportEvents): void {
    this.#events = events;
    setImmediate(noop);
  }

  write(bytes: Uint8Array, done?: () => void): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    if (!this.#hasGreeted) {
      this.#hasGreeted = true;
      at = 8;
      this.#greet();
    }
    while (at < buffer.length) {
      const size = buffer.readUInt32BE(at + 3);
      if (buffer[at] === frameTypes.method) this.#method(buffer, at, size);
      at += size + 8;
    }
    done?.();
  }

  flush(): void {
    this.#answerLater();
  }

  end(): void {
    setImmediate(() => this.#events.closed());
  }

  destroy(): void {
    this.end();
  }

  #answerLater(): void {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    setImmediate(this.#answer);
  }

  readonly #answer = (): void => {
    this.#isAnswering = false;
    this.#confirm();
    this.#to.flush();
    for (const bytes of this.#said.splice(0)) this.#events.received(bytes);
    this.#deliver();
    if (this.#confirmed < this.#published) this.#answerLater();
  };

  #confirm(): void {
    if (this.#confirmed === this.#published) return;
    this.#confirmed = Math.min(this.#published, this.#confirmed + atOnce);
    methods.writeBasicAck(this.#to, this.#publishChannel, this.#confirmed, true);
  }

  #deliver(): void {
    const room = this.#deliverChannel === 0 ? 0 : atOnce - (this.#delivered - this.#settled);
    if (room <= 0) return;
    const bytes = this.#deliveries.subarray(0, room * this.#size);
    for (let at = 0; at < bytes.length; at += this.#size) {
      for (let frame = at; frame < at + this.#size; frame += bytes.readUInt32BE(frame + 3) + 8)
        bytes[frame + 2] = this.#deliverChannel;
      bytes.writeUIntBE(++this.#delivered, at + tagAt + 2, 6);
    }
    this.#events.received(bytes);
  }

  #method(bytes: Buffer, at: number, size: number): void {
    const [channel, id] = [bytes.readUInt16BE(at + 1), bytes.readUInt32BE(at + 7)];
    if (id === methodIds.basicPublish) {
      this.#published++;
      this.#publishChannel = channel;
    } else if (id === methodIds.basicAck) {
      const isMultiple = bytes[at + 7 + size - 1] === 1;
      this.#settled = isMultiple ? Number(bytes.readBigUInt64BE(at + 11)) : this.#settled + 1;
    } else this.#command(channel, id);
  }

  #greet(): void {
    const capabilities = table(new Map());
    const properties = new Map([
      ['product', longstr('RabbitMQ')],
      ['version', longstr('3.10.8')],
      ['capabilities', capabilities],
    ]);
    methods.writeConnectionStart(this.#to, 0, 0, 9, properties, 'PLAIN', 'en_US');
    this.#answerLater();
  }

  #command(channel: number, id: number): void {
    const to = this.#to;
    switch (id) {
      case methodIds.connectionStartOk:
        return methods.writeConnectionTune(to, 0, 2_047, 131_072, 0);
      case methodIds.connectionOpen:
        return methods.writeConnectionOpenOk(to, 0);
      case methodIds.connectionClose:
        return methods.writeConnectionCloseOk(to, 0);
      case methodIds.channelOpen:
        return methods.writeChannelOpenOk(to, channel);
      case methodIds.channelClose:
        if (channel === this.#deliverChannel) this.#deliverChannel = 0;
        return methods.writeChannelCloseOk(to, channel);
      case methodIds.confirmSelect:
        return methods.writeConfirmSelectOk(to, channel);
      case methodIds.exchangeDeclare:
        return methods.writeExchangeDeclareOk(to, channel);
      case methodIds.queueDeclare:
        return methods.writeQueueDeclareOk(to, channel, 'q', 0, 0);
      case methodIds.queueBind:
        return methods.writeQueueBindOk(to, channel);
      case methodIds.exchangeBind:
        return methods.writeExchangeBindOk(to, channel);
      case methodIds.basicQos:
        return methods.writeBasicQosOk(to, channel);
      case methodIds.queueDelete:
        return methods.writeQueueDeleteOk(to, channel, 0);
      case methodIds.basicCancel:
        this.#deliverChannel = 0;
        return methods.writeBasicCancelOk(to, channel, 'c1');
      case methodIds.basicConsume:
        this.#deliverChannel = channel;
        this.#delivered = this.#settled = 0;
        return methods.writeBasicConsumeOk(to, channel, 'c1');
    }
  }
}

const noop = (): void => undefined;

/** The frames of a delivery as this library and the work by hand publish it. */
function delivery(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  const to = new FrameWriter(new BufferPool(), {
    write: (bytes) => parts.push(Buffer.from(bytes)),
    requestFlush: noop,
  });
  const properties = { deliveryMode: 2, contentType: 'application/json', messageId: 'abcdefgh.12345' };
  to.maxPayload = 131_064;
  methods.writeBasicDeliver(to, 1, 'c1', 1, false, 'dlx.events', 'bench');
  to.begin(frameTypes.header, 1);
  to.long(basicClass << 16);
  to.longlong(body.length);
  writeProperties(to, properties, undefined, undefined);
  to.end();
  to.body(1, body);
  to.flush();
  return Buffer.concat(parts);
}
