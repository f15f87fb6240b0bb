import { Duplex } from 'node:stream';
import { readBuffer } from '../../libs/dlx-broker/src/amqp/wire/index.js';
import { passRead } from '../harnesses/common-read.js';
import type { Wire } from './wire.js';

/** The server's end of a simulated connection, as its listener sees a socket. */
export class ServerSocket extends Duplex {
  readonly localAddress = '10.0.0.1';
  readonly localPort = 5672;
  readonly remoteAddress = '10.0.0.2';
  bytesRead = 0;
  bytesWritten = 0;

  constructor(
    private readonly wire: Wire,
    readonly remotePort: number,
  ) {
    super({ allowHalfOpen: false, readableHighWaterMark: 4_096, writableHighWaterMark: 4_096 });
  }

  /** @returns false if it takes no more until it is read */
  arrived(bytes: Buffer): boolean {
    if (this.destroyed || this.readableEnded) return true;
    this.bytesRead += bytes.length;
    return this.push(bytes);
  }

  /** Passes a read in the common buffer, as a socket of `withCommonReads` does. */
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    const [bytes] = values;
    if (event !== 'data' || !(bytes instanceof Buffer) || bytes.length > readBuffer.length)
      return super.emit(event, ...values);
    return passRead(bytes, (read) => super.emit(event, read));
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  override _read(): void {
    this.wire.up.resume();
  }

  override _write(bytes: Buffer, _: string, done: () => void): void {
    this.bytesWritten += bytes.length;
    this.wire.down.send(Buffer.from(bytes), done);
  }

  override _final(done: () => void): void {
    this.wire.down.finish();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.wire.serverLeft();
    done(error);
  }
}
