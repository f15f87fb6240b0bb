/** Class and method in one number, as they stand in a frame. */
export const ids = {
  connectionStart: id(10, 10),
  connectionStartOk: id(10, 11),
  connectionTune: id(10, 30),
  connectionTuneOk: id(10, 31),
  connectionOpen: id(10, 40),
  connectionOpenOk: id(10, 41),
  connectionClose: id(10, 50),
  connectionCloseOk: id(10, 51),
  channelOpen: id(20, 10),
  channelOpenOk: id(20, 11),
  channelClose: id(20, 40),
  exchangeDeclare: id(40, 10),
  exchangeDeclareOk: id(40, 11),
  queueDeclare: id(50, 10),
  queueDeclareOk: id(50, 11),
  queueBind: id(50, 20),
  queueBindOk: id(50, 21),
  queueDelete: id(50, 40),
  queueDeleteOk: id(50, 41),
  basicQos: id(60, 10),
  basicQosOk: id(60, 11),
  basicConsume: id(60, 20),
  basicConsumeOk: id(60, 21),
  basicPublish: id(60, 40),
  basicDeliver: id(60, 60),
  basicAck: id(60, 80),
  basicReject: id(60, 90),
  confirmSelect: id(85, 10),
  confirmSelectOk: id(85, 11),
} as const;

export type Arguments = Readonly<Record<string, string | number>>;

/** Bytes of a frame behind its payload. */
export const frameTail = 1;

const frameEnd = Buffer.from([0xce]);
const persistent = 2;

function id(classId: number, methodId: number): number {
  return (classId << 16) | methodId;
}

export const octet = (value: number): Buffer => Buffer.from([value]);
export const short = (value: number): Buffer => Buffer.from([value >>> 8, value & 255]);

export function long(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export const longlong = (value: number): Buffer =>
  Buffer.concat([long(Math.floor(value / 2 ** 32)), long(value >>> 0)]);
export const shortstr = (text: string): Buffer => Buffer.concat([octet(Buffer.byteLength(text)), Buffer.from(text)]);
export const longstr = (text: string): Buffer => Buffer.concat([long(Buffer.byteLength(text)), Buffer.from(text)]);

/** A field table of texts and whole numbers. */
export function table(values: Arguments): Buffer {
  const fields = Object.entries(values).map(([name, value]) =>
    typeof value === 'string'
      ? Buffer.concat([shortstr(name), Buffer.from('S'), longstr(value)])
      : Buffer.concat([shortstr(name), Buffer.from('I'), long(value)]),
  );
  const all = Buffer.concat(fields);
  return Buffer.concat([long(all.length), all]);
}

export function frame(type: number, channel: number, payload: Buffer): Buffer {
  return Buffer.concat([octet(type), short(channel), long(payload.length), payload, frameEnd]);
}

export const method = (channel: number, methodId: number, ...values: Buffer[]): Buffer =>
  frame(1, channel, Buffer.concat([long(methodId), ...values]));

/** The three frames of a publish: method, header and body. */
export function publish(exchange: string, routingKey: string, body: Buffer, durable = false): Buffer {
  const properties = durable ? Buffer.concat([short(0x1000), octet(persistent)]) : short(0);
  const frames = [
    method(1, ids.basicPublish, short(0), shortstr(exchange), shortstr(routingKey), octet(0)),
    frame(2, 1, Buffer.concat([short(60), short(0), longlong(body.length), properties])),
  ];
  return Buffer.concat([...frames, frame(3, 1, body)]);
}

/** Frames in a row, made once and sent many times, in runs of any length. */
export class Batch {
  readonly #bytes: Buffer;
  readonly #ends: readonly number[];
  #next = 0;

  constructor(frames: readonly Buffer[]) {
    this.#bytes = Buffer.concat(frames);
    let end = 0;
    this.#ends = frames.map((bytes) => (end += bytes.length));
  }

  /** The next frames after the last run, at most this number. */
  take(wanted: number): { readonly bytes: Buffer; readonly count: number } {
    const from = this.#next;
    const to = Math.min(this.#ends.length, from + wanted);
    this.#next = to === this.#ends.length ? 0 : to;
    const start = from === 0 ? 0 : (this.#ends[from - 1] as number);
    return { bytes: this.#bytes.subarray(start, this.#ends[to - 1]), count: to - from };
  }

  /** The same frame many times. */
  static of(bytes: Buffer, count = 250): Batch {
    return new Batch(new Array<Buffer>(count).fill(bytes));
  }
}
