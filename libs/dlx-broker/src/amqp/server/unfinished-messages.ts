import { AmqpError } from '../../engine/broker/index.js';

/** Counts the bytes of messages that are not complete, over all channels of a connection (decision 80). */
export class UnfinishedMessages {
  /** Bytes counted now. */
  bytes = 0;

  /** @param limit bytes at most */
  constructor(readonly limit: number) {}

  /** Adds bytes, or subtracts them if negative. @throws AmqpError 506 above the limit, without adding them */
  count(bytes: number): void {
    const sum = this.bytes + bytes;
    if (bytes > 0 && sum > this.limit) throw tooMany(this.limit);
    this.bytes = sum;
  }
}

const tooMany = (limit: number): AmqpError =>
  new AmqpError(
    'RESOURCE_ERROR',
    `unfinished messages of this connection exceed ${limit} bytes; finish them before others are begun, or raise limits.unfinished`,
  );
