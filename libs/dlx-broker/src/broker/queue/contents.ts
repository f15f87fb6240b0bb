import type { Message } from '../../message/index.js';

/** What a queue holds, ready or in somebody's hands, in sums that cost nothing to ask for. */
export class Contents {
  /** Sum of the bodies. */
  bytes = 0;
  /** Messages published as persistent. */
  persistent = 0;
  persistentBytes = 0;

  add(message: Message): void {
    const { size } = message;
    this.bytes += size;
    if (message.properties.deliveryMode !== 2) return;
    this.persistent++;
    this.persistentBytes += size;
  }

  remove(message: Message): void {
    const { size } = message;
    this.bytes -= size;
    if (message.properties.deliveryMode !== 2) return;
    this.persistent--;
    this.persistentBytes -= size;
  }
}
