import { parseDelay } from '../retry/index.js';

import type { Properties } from '../../engine/message/index.js';
import { flag, optionsOf, parseDuration, refused, text, whole } from '../../platform/options/index.js';
import { fieldTableOf } from '../../backends/topology/index.js';

/** Properties of a message, by their AMQP names, and options of its publish. */
export interface DlxRecordOptions {
  readonly headers?: Readonly<Record<string, unknown>>;
  /** 0 to 255. */
  readonly priority?: number;
  /** The time to live of the message in a queue: milliseconds or `'30s'`. */
  readonly expiration?: number | string;
  /** True: durable queues store the message on disk. Default true. */
  readonly persistent?: boolean;
  readonly messageId?: string;
  readonly correlationId?: string;
  readonly type?: string;
  readonly appId?: string;
  readonly userId?: string;
  readonly timestamp?: Date;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  /** Further routing keys; those of BCC are not visible to consumers. */
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  /** Instead of the broker's exchange for events or requests; `''` makes the pattern the name of a queue. */
  readonly exchange?: string;
  /** True: the publish fails when no queue gets the message. Always true for requests, and always false for delayed events. */
  readonly mandatory?: boolean;
  /** The delay of an event: milliseconds or `'10m'`, up to 49 days. Not for requests. */
  readonly delay?: number | string;
}

/** A payload with its properties; made by {@link DlxRecordBuilder}. */
export class DlxRecord<T = unknown> {
  constructor(
    readonly data: T,
    readonly properties: Properties,
    readonly exchange?: string,
    readonly mandatory?: boolean,
    /** In milliseconds. */
    readonly delay?: number,
  ) {}
}

/**
 * A payload with properties of its message: `client.emit('order.created', new
 * DlxRecordBuilder(order).setPriority(5).setHeaders({ tenant }).build())`.
 */
export class DlxRecordBuilder<T = unknown> {
  #options: DlxRecordOptions;

  constructor(
    private readonly data: T,
    options: DlxRecordOptions = {},
  ) {
    this.#options = options;
  }

  /** Adds options to those that were set before. */
  setOptions(options: DlxRecordOptions): this {
    this.#options = { ...this.#options, ...options };
    return this;
  }

  /** @throws DlxConfigurationError for anything but an object */
  setHeaders(headers: Readonly<Record<string, unknown>>): this {
    checkHeaders(headers);
    return this.setOptions({ headers: { ...this.#options.headers, ...headers } });
  }

  setPriority(priority: number): this {
    return this.setOptions({ priority });
  }

  setExpiration(expiration: number | string): this {
    return this.setOptions({ expiration });
  }

  setPersistent(persistent: boolean): this {
    return this.setOptions({ persistent });
  }

  setMessageId(messageId: string): this {
    return this.setOptions({ messageId });
  }

  setCorrelationId(correlationId: string): this {
    return this.setOptions({ correlationId });
  }

  setType(type: string): this {
    return this.setOptions({ type });
  }

  setCc(...cc: readonly string[]): this {
    return this.setOptions({ cc });
  }

  setBcc(...bcc: readonly string[]): this {
    return this.setOptions({ bcc });
  }

  setExchange(exchange: string): this {
    return this.setOptions({ exchange });
  }

  setMandatory(mandatory: boolean): this {
    return this.setOptions({ mandatory });
  }

  setDelay(delay: number | string): this {
    return this.setOptions({ delay });
  }

  /** @throws DlxConfigurationError for an invalid delay, and for a property that AMQP cannot carry */
  build(): DlxRecord<T> {
    optionsOf(this.#options, origin, 'write { priority: 5 }', recordOptions);
    const { exchange, mandatory, delay } = this.#options;
    if (exchange !== undefined) text.read(exchange, `exchange of ${origin}`);
    if (mandatory !== undefined) flag.read(mandatory, `mandatory of ${origin}`);
    const later = delay === undefined ? undefined : parseDelay(delay, `delay of ${origin}`);
    return new DlxRecord(this.data, propertiesOf(this.#options), exchange, mandatory, later);
  }
}

const origin = 'DlxRecordBuilder';

const checkHeaders = (headers: unknown): unknown =>
  optionsOf(headers, `headers of ${origin}`, "write { tenant: 'acme' }");

const texts = ['messageId', 'correlationId', 'type', 'appId', 'userId', 'contentType', 'contentEncoding'] as const;

const recordOptions: readonly string[] = [
  ...(['headers', 'priority', 'expiration', 'persistent', 'timestamp', 'cc', 'bcc'] as const),
  ...(['exchange', 'mandatory', 'delay'] as const),
  ...texts,
] satisfies readonly (keyof DlxRecordOptions)[];

function propertiesOf(options: DlxRecordOptions): Properties {
  const { headers, cc, bcc, priority, expiration, persistent = true, timestamp } = options;
  if (priority !== undefined) whole(0, 255).read(priority, `priority of ${origin}`);
  flag.read(persistent, `persistent of ${origin}`);
  for (const name of texts) if (options[name] !== undefined) text.read(options[name], `${name} of ${origin}`);
  if (timestamp !== undefined && (!(timestamp instanceof Date) || Number.isNaN(timestamp.getTime()))) {
    throw refused(timestamp, `timestamp of ${origin}`, 'is not a Date');
  }
  if (headers !== undefined) checkHeaders(headers);
  for (const [name, keys] of Object.entries({ cc, bcc })) {
    if (keys !== undefined && !Array.isArray(keys))
      throw refused(keys, `${name} of ${origin}`, 'is not a list of strings');
  }
  for (const key of [...(cc ?? []), ...(bcc ?? [])]) {
    if (typeof key !== 'string') throw refused(key, `cc or bcc of ${origin}`, 'is not a string');
  }
  const table = fieldTableOf({ ...headers, CC: cc, BCC: bcc }, `headers of ${origin}`);
  return {
    headers: table.size > 0 ? table : undefined,
    deliveryMode: persistent ? 2 : 1,
    priority,
    expiration: expiration === undefined ? undefined : String(parseDuration(expiration, `expiration of ${origin}`)),
    messageId: options.messageId,
    correlationId: options.correlationId,
    type: options.type,
    appId: options.appId,
    userId: options.userId,
    timestamp: timestamp && Math.floor(timestamp.getTime() / 1000),
    contentType: options.contentType,
    contentEncoding: options.contentEncoding,
  };
}

/** The properties of a message made of a record. The client knows the ids. */
export const recordProperties = (
  { properties }: DlxRecord,
  contentType: string | undefined,
  messageId: string,
  correlationId: string | undefined,
): Properties => ({
  ...properties,
  contentType: properties.contentType ?? contentType,
  messageId,
  correlationId: correlationId ?? properties.correlationId,
});
