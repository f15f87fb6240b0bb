/** Where a message is published to. */
export interface Address {
  readonly exchange: string;
  readonly routingKey: string;
}

/**
 * Where a message was published at first and the queue in which it failed, as the broker itself recorded them. It is kept
 * beside the message, never in its headers: no client can write it.
 */
export interface RecordedOrigin extends Address {
  /** Undefined until it fails. */
  readonly queue: string | undefined;
}
