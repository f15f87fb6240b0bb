import { shownText } from '../platform/index.js';

/** Whether the same command may succeed later. */
export type Retryable = 'never' | 'later';

/** A failure of a backend, which says whether a retry makes sense and whether the message may be there already. */
export abstract class BackendError extends Error {
  /** `later`: the same publish may succeed later. `never`: configuration or the message itself has to change first. */
  abstract readonly retry: Retryable;
  /** True when a queue may have the message although it failed: a retry keeps its message id. */
  abstract readonly mayBeTaken: boolean;

  /** Its fields with the message, which JSON would leave out. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** No queue got a mandatory message: RabbitMQ's basic.return. */
export class UnroutableError extends BackendError {
  override readonly name = 'UnroutableError';
  readonly retry = 'never';
  readonly mayBeTaken = false;
  readonly code = 312;

  /** @param hint ends the text, such as `: no handler answers it` */
  constructor(exchange: string, routingKey: string, hint = '') {
    super(`NO_ROUTE - exchange '${exchange}' has no queue for routing key '${routingKey}'${hint}`);
  }
}

/** A full queue refused the message (rule C7), or the disk did: a publisher confirm with nack. */
export class RefusedError extends BackendError {
  override readonly name = 'RefusedError';
  readonly retry = 'later';
  /** True: other queues of the same exchange may have the message. */
  readonly mayBeTaken = true;

  /** @param trouble the fault of the store, if that is the reason */
  constructor(exchange: string, routingKey: string, trouble?: string) {
    const queue = `a queue of exchange '${exchange}' with routing key '${routingKey}'`;
    super(
      trouble === undefined
        ? `${queue} is full and refused the message (nack)`
        : `${queue} cannot keep the message (nack): ${trouble}`,
    );
  }
}

/** The server, or the protocol to it, lacks a capability. The text names the server, the reason and a remedy. */
export class NotAvailableError extends BackendError {
  override readonly name = 'NotAvailableError';
  readonly retry = 'never';
  readonly mayBeTaken = false;

  constructor(
    /** The member of `Backend` that is absent. */
    readonly capability: string,
    message: string,
  ) {
    super(message);
  }
}

/** No server could be reached, or each refused the login. The text names each server, the virtual host and the reason. */
export class ConnectError extends BackendError {
  override readonly name = 'ConnectError';
  readonly mayBeTaken = false;

  /** @param retry `never` when each server refused the user, the password or the virtual host */
  constructor(
    message: string,
    readonly retry: Retryable,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** There is no connection, or it or the channel of a request has ended before an answer to the command. */
export class ConnectionLostError extends BackendError {
  override readonly name = 'ConnectionLostError';
  readonly retry = 'later';

  constructor(
    message: string,
    readonly mayBeTaken: boolean = true,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A message was not sent: the server took none until the time limit of the publish, or the buffer of waiting messages is full. */
export class OverloadedError extends BackendError {
  override readonly name = 'OverloadedError';
  readonly retry = 'later';
  readonly mayBeTaken = false;
}

/** A message was sent, and the server did not confirm it in time. Whether a queue has it is unknown. */
export class UnconfirmedError extends BackendError {
  override readonly name = 'UnconfirmedError';
  readonly retry = 'later';
  readonly mayBeTaken = true;
}

/** The server refused a command and closed its channel: a right is missing, an exchange does not exist, a message is too large. */
export class ServerError extends BackendError {
  override readonly name = 'ServerError';
  readonly retry = 'never';
  readonly mayBeTaken = false;

  constructor(
    message: string,
    /** AMQP's reply code: 403, 404, 406 ... */
    readonly code: number,
    options?: ErrorOptions,
  ) {
    super(shownText(message, longestText), options);
  }
}

/** Characters of a string that may come from a server. */
const longestText = 2_000;

/** The declarations do not fit what the broker has, or the broker refused one. Nothing was deleted. */
export class TopologyError extends BackendError {
  override readonly name = 'TopologyError';
  readonly retry = 'never';
  readonly mayBeTaken = false;

  constructor(
    message: string,
    /** Properties of existing queues and exchanges that differ from their declarations. */
    readonly differences: readonly {
      readonly kind: 'exchange' | 'queue';
      readonly name: string;
      readonly property: string;
      /** As text; `none` when it is not set. */
      readonly existing: string;
      readonly asked: string;
      /** Where the declaration is written. */
      readonly origin: string | undefined;
    }[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export type TopologyDifference = TopologyError['differences'][number];

/** A difference as a line of an error. */
export function shownDifference({ kind, name, property, existing, asked, origin }: TopologyDifference): string {
  const by = origin === undefined ? '' : ` (${origin})`;
  const there = shownText(existing, longestText);
  return `  ${kind} '${name}' ${property}: the existing one has ${there}, the declaration has ${asked}${by}`;
}

const embeddedWay =
  "by 'dlx-broker ctl delete_queue NAME' while the broker runs and has a port, by 'dlx-broker data remove DIR NAME' or " +
  "'dlx-broker data rename DIR NAME NEW' while nothing uses its data directory";

/**
 * The error that shows every difference, argument by argument.
 * @param way how an operator deletes a queue
 */
export function differing(differences: readonly TopologyDifference[], way = embeddedWay): TopologyError {
  const lines = differences.map(shownDifference).join('\n');
  const has = (kind: TopologyDifference['kind']): boolean => differences.some((each) => each.kind === kind);
  const exchange = has('exchange')
    ? " Other applications may use the exchange: declare it as it is (option 'topology'), or leave it to its owner with declare: false."
    : '';
  const queue = has('queue') ? `, or delete the old one when it is empty: ${way}` : '';
  const advice = `Nothing was changed or deleted.${exchange} Give the new one another name${queue}.`;
  return new TopologyError(`The topology does not fit what exists:\n${lines}\n${advice}`, differences);
}

/**
 * The name of the delayed exchange in front of an exchange. All queues share the one in front of the default exchange, where the
 * routing key names the queue.
 */
export const delayedName = (exchange: string): string => (exchange === '' ? 'dlx.delayed' : `${exchange}.delayed`);
