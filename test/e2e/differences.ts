/** What an application may notice of the broker it is on. `differences.spec.ts` has a case for each row. */
export interface Difference {
  readonly feature: string;
  readonly embedded: string;
  readonly serve: string;
  readonly RabbitMQ: string;
  /** The errors, by the broker that gives them. Without any, nothing fails. */
  readonly errors?: Partial<Readonly<Record<'embedded' | 'serve' | 'serve without `--http`' | 'RabbitMQ', string>>>;
  /** What to do where nothing fails. */
  readonly instead?: string;
}

/** Versions and virtual hosts as the errors below write them. */
export const anonymous = (text: string): string =>
  text
    .replace(/\bRabbitMQ \d+\.\d+\.\d+/, 'RabbitMQ 3.10.8')
    .replace(/\bdlx-broker \d+\.\d+\.\d+\S*/, 'dlx-broker 1.0.0')
    .replace(/vhost '[^']*'/, "vhost 'shop'");

const unlisted = (remedy: string): string =>
  `RabbitMQ 3.10.8 cannot list its queues: AMQP 0-9-1 has no list of queues; ${remedy}, or name the queues instead of giving a pattern`;
const unseen =
  'cannot show the messages that wait in a queue: AMQP 0-9-1 has no way to look at messages without taking them';
const management = "set option 'management' of rabbitmq() to the URL of the management API";
const missing = "NOT_FOUND - no exchange 'missing' in vhost 'shop'";
const missingOnServer = `the server refused a message to exchange 'missing' with routing key 'x': ${missing}`;
const unsureType =
  "cannot declare exchange 'x' (option 'topology' of DlxBrokerModule): the server does not say whether it has the type 'topik', and to " +
  "try a type that it has not would close the connection; did you mean 'topic'? Otherwise declare the exchange by other means before " +
  'the application starts';

const rows = {
  delayed: {
    feature: 'delayed events',
    embedded: 'exact',
    serve: 'exact',
    RabbitMQ: 'over wait queues, rounded up by 28 % at most',
    instead: 'a handler that needs the exact time compares it with the clock',
  },
  delayedExpiration: {
    feature: 'a delay and an expiration in one event',
    embedded: 'yes',
    serve: 'yes',
    RabbitMQ: 'no',
    errors: {
      RabbitMQ:
        'a delay and an expiration cannot be had together here: in a wait queue the message would expire before its time',
    },
  },
  cancelDelayed: {
    feature: '`cancelDelayed`',
    embedded: 'yes',
    serve: 'with `--http`',
    RabbitMQ: 'no',
    errors: {
      'serve without `--http`':
        'dlx-broker 1.0.0 cannot take back delayed messages: AMQP 0-9-1 has no way to do it; start ' +
        "'dlx-broker serve' with --http, or set option 'management' of rabbitmq()",
      RabbitMQ:
        'RabbitMQ 3.10.8 cannot take back delayed messages: it holds delayed messages in wait queues, out of which no single message ' +
        'can be taken; let the handler check whether the event still counts, or use embedded(), which can',
    },
  },
  browse: {
    feature: '`DeadLetters.replay`, dry redrives',
    embedded: 'yes',
    serve: 'with `--http`',
    RabbitMQ: 'no',
    errors: {
      'serve without `--http`': `dlx-broker 1.0.0 ${unseen}; start 'dlx-broker serve' with --http, or ${management}`,
      RabbitMQ:
        `RabbitMQ 3.10.8 ${unseen}; consume the queue (DeadLetters.from), or use a broker that can be looked into: embedded() or ` +
        "'dlx-broker serve'",
    },
  },
  pattern: {
    feature: '`DeadLetters.from(/pattern/)`',
    embedded: 'yes',
    serve: 'with `--http`',
    RabbitMQ: 'with option `management`',
    errors: {
      'serve without `--http`': unlisted(management).replace('RabbitMQ 3.10.8', 'dlx-broker 1.0.0'),
      RabbitMQ: unlisted(management),
    },
  },
  expired: {
    feature: 'event `expired`',
    embedded: 'yes',
    serve: 'no',
    RabbitMQ: 'no',
    instead: 'consume the queue to which the dead letters go',
  },
  errorHeaders: {
    feature: 'error headers of a rejected message',
    embedded: 'yes',
    serve: 'no',
    RabbitMQ: 'no',
    instead: 'park instead of reject: `@Retry` writes the headers when it republishes',
  },
  lastError: {
    feature: '`context.lastError` after a retry with one fixed delay, with `errorHistory: 0`',
    embedded: 'yes',
    serve: 'undefined',
    RabbitMQ: 'undefined',
    instead:
      'an `errorHistory` above 0, the default, republishes with the error in the headers; so does a list of delays: ' +
      '`backoff: [1_000, 2_000]`',
  },
  origin: {
    feature: 'origin of a message, for a redrive of the application',
    embedded: 'recorded by the broker',
    serve: 'by headers, which a publisher may write',
    RabbitMQ: 'by headers, which a publisher may write',
    instead: 'give the redrive a destination (`to`) where publishers are not trusted',
  },
  atomic: {
    feature: 'retry or parking of a message',
    embedded: 'one atomic step',
    serve: 'one atomic step',
    RabbitMQ: 'published, confirmed, then acked',
    instead: 'handlers tolerate a message that comes twice ([idempotency](../guide/idempotency.md))',
  },
  unacknowledged: {
    feature: '`status()`: number of unacknowledged messages',
    embedded: 'yes',
    serve: 'undefined',
    RabbitMQ: 'undefined',
    instead: 'ask the management API',
  },
  givenUp: {
    feature: 'a request that its client gives up: its handler is stopped',
    embedded: 'at once',
    serve: 'when the connection of the client ends, within 5 s',
    RabbitMQ: 'when the connection of the client ends, within 5 s',
    instead:
      "send it with `{ timeout: '5s' }`, which lets it expire while it waits; give handlers that may never end a time limit: " +
      '`@Retry({ attempts: 1, timeout })`',
  },
  exchangeType: {
    feature: 'a declaration with an unknown exchange type',
    embedded: 'refused with a list of the types',
    serve: 'refused without trying',
    RabbitMQ: 'refused without trying',
    errors: {
      embedded:
        "cannot declare exchange 'x' (option 'topology' of DlxBrokerModule): PRECONDITION_FAILED - unknown exchange type 'topik'; " +
        "did you mean 'topic'? there are direct, fanout, topic, headers, x-delayed-message",
      serve: unsureType,
      RabbitMQ: unsureType,
    },
  },
  missingExchange: {
    feature: '`emit` to an exchange that does not exist',
    embedded: "RabbitMQ's text",
    serve: 'the same after the place',
    RabbitMQ: 'the same after the place',
    errors: { embedded: missing, serve: missingOnServer, RabbitMQ: missingOnServer },
  },
} satisfies Readonly<Record<string, Difference>>;

export type DifferenceName = keyof typeof rows;
export const differences: Readonly<Record<DifferenceName, Difference>> = rows;
