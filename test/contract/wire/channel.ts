import type { Properties } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { Failure } from '../failure.js';
import type { WireConnection } from './connection.js';
import { writeFrame, type Frame } from './frames.js';
import { carriesContent, readMethod, writeMethod, type Arguments, type Method } from './methods.js';
import { readContentHeader, writeContentHeader } from './properties.js';

export interface Content {
  readonly properties: Properties;
  readonly body: Buffer;
}

/** One channel: answers are matched to requests by order, everything else goes to `listener`. */
export class WireChannel {
  readonly #waiting: { resolve(answer: Method & Partial<Content>): void; reject(error: Error): void }[] = [];
  #content: { method: Method; properties?: Properties; size: number; parts: Buffer[] } | undefined;
  failure: Failure | undefined;
  /** Deliveries, returns, confirms and cancellations by the server. */
  listener: (method: Method & Partial<Content>) => void = () => undefined;

  constructor(
    readonly connection: WireConnection,
    readonly number: number,
  ) {}

  /** @throws Failure when the channel or connection is closed instead of an answer */
  call(name: string, args: Arguments): Promise<Method & Partial<Content>> {
    const failure = this.failure ?? this.connection.failure;
    if (failure !== undefined) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.connection.send(this.number, name, args);
    });
  }

  /** Sends a method that has no answer. */
  send(name: string, args: Arguments): void {
    if (this.failure === undefined) this.connection.send(this.number, name, args);
  }

  publish(args: Arguments, properties: Properties, body: Uint8Array): void {
    if (this.failure !== undefined) return;
    const frames = [
      writeFrame(1, this.number, writeMethod('basic.publish', args)),
      writeFrame(2, this.number, writeContentHeader(properties, body.length)),
    ];
    const { largest } = this.connection;
    for (let start = 0; start < body.length; start += largest)
      frames.push(writeFrame(3, this.number, Buffer.from(body.subarray(start, start + largest))));
    this.connection.write(Buffer.concat(frames));
  }

  receive(frame: Frame): void {
    if (frame.type === 1) {
      const method = readMethod(frame.payload);
      if (carriesContent.has(method.name)) this.#content = { method, size: 0, parts: [] };
      else this.#dispatch(method);
      return;
    }
    const content = this.#content;
    if (content === undefined) throw new Error('content without a method');
    if (frame.type === 2) {
      const header = readContentHeader(frame.payload);
      content.properties = header.properties;
      content.size = header.bodySize;
    } else content.parts.push(Buffer.from(frame.payload));
    const body = Buffer.concat(content.parts);
    if (body.length < content.size) return;
    this.#content = undefined;
    this.#dispatch({ ...content.method, properties: content.properties ?? {}, body });
  }

  end(failure: Failure): void {
    this.failure ??= failure;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.failure);
  }

  #dispatch(method: Method & Partial<Content>): void {
    if (method.name === 'channel.close') {
      this.connection.send(this.number, 'channel.close-ok', {});
      this.end(Failure.of(method, 'channel'));
    } else if (/-(ok|empty)$/.test(method.name)) this.#waiting.shift()?.resolve(method);
    else this.listener(method);
  }
}
