/** No queue got a mandatory message: RabbitMQ's basic.return. */
export class UnroutableError extends Error {
  override readonly name = 'UnroutableError';
  readonly code = 312;

  constructor(exchange: string, routingKey: string) {
    super(`NO_ROUTE - exchange '${exchange}' has no queue for routing key '${routingKey}'`);
  }
}

/** A full queue refused the message (rule C7), or the disk did: a publisher confirm with nack. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';

  /** @param trouble what is wrong with the store, if that is why */
  constructor(exchange: string, routingKey: string, trouble?: string) {
    const queue = `a queue of exchange '${exchange}' with routing key '${routingKey}'`;
    super(
      trouble === undefined
        ? `${queue} is full and refused the message (nack)`
        : `${queue} cannot keep the message (nack): ${trouble}`,
    );
  }
}

/** One property that is not what was asked for. */
export interface TopologyDifference {
  readonly kind: 'exchange' | 'queue';
  readonly name: string;
  readonly property: string;
  /** As text; `none` when it is not set. */
  readonly existing: string;
  readonly asked: string;
  /** Who asked. */
  readonly origin: string | undefined;
}

/** The declarations do not fit what the broker has, or the broker refused one. Nothing was deleted. */
export class TopologyError extends Error {
  override readonly name = 'TopologyError';

  constructor(
    message: string,
    readonly differences: readonly TopologyDifference[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The error for everything that differs, argument by argument. */
export function differing(differences: readonly TopologyDifference[]): TopologyError {
  const lines = differences.map(({ kind, name, property, existing, asked, origin }) => {
    const by = origin === undefined ? '' : ` (${origin})`;
    return `  ${kind} '${name}' ${property}: there is ${existing}, asked for ${asked}${by}`;
  });
  const advice =
    'Nothing was changed or deleted. Give the new one another name, or delete the old one when it is empty: by ' +
    "'dlx-broker ctl delete_queue NAME --if-empty' while the broker runs and has a port, by 'dlx-broker data remove DIR NAME' or " +
    "'dlx-broker data rename DIR NAME NEW' while nothing uses its data directory.";
  return new TopologyError(`The topology does not fit what exists:\n${lines.join('\n')}\n${advice}`, differences);
}
