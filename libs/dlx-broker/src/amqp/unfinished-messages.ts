import { AmqpError } from '../broker/index.js';

/** What is kept of messages that are not complete, over all channels of a connection (decision 80). */
export class UnfinishedMessages {
  /** Kept now. */
  bytes = 0;

  /** @param limit bytes at most */
  constructor(readonly limit: number) {}

  /** Counts bytes, fewer when below 0. @throws AmqpError 506 when they are too many; they are not counted then */
  keep(bytes: number): void {
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
