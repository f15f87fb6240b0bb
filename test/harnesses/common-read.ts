import type { TransportEvents } from '../../libs/dlx-broker/src/backend/rabbitmq/client/transport.js';
import { readBuffer } from '../../libs/dlx-broker/src/wire/index.js';

/** Passes bytes as a socket does: in the common buffer of reads, which the next read overwrites. */
export function passRead(events: TransportEvents | undefined, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += readBuffer.length) {
    const length = bytes.copy(readBuffer, 0, at);
    events?.received(readBuffer.subarray(0, length));
    readBuffer.fill(0xff, 0, length);
  }
}
