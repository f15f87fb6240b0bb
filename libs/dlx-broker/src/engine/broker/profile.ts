import type { Dialect } from '../message/index.js';

/** What differs between the versions of RabbitMQ that the broker can behave like; one row per version. */
export interface Profile extends Dialect {
  /** The limit of a quorum queue that names none (rule W6). */
  readonly defaultDeliveryLimit: number | undefined;
  /** A negative delivery limit is none at all, and gives way to a limit of the other side (rule W6). */
  readonly negativeLimitIsNone: boolean;
  /**
   * Failures count apart from returns: `basic.reject` and loss of the channel are failures, `basic.nack` and `basic.recover`
   * are not. Only failures reach the limit of a quorum queue (rule W6), and a dead letter keeps them (rule W16).
   */
  readonly countsFailuresApart: boolean;
  /** Each delivery of a quorum queue has a time, and no other delivery has one (rule W19). */
  readonly queueConsumerTimeouts: boolean;
  /** Queue arguments are known and checked as by RabbitMQ 4.3 (rules F9, W7). */
  readonly checksAs43: boolean;
  /** A purge of a quorum queue drops and counts at-least-once letters that have not arrived (rule O6). */
  readonly purgesRetained: boolean;
  /** The default queue type of a virtual host takes effect (rule D1). */
  readonly defaultQueueTypes: boolean;
  /** Quorum queues keep their messages in another list: by priority, 0 to 31 (rule W8), and properties count as bytes (rule D7). */
  readonly quorumPriorities: boolean;
  /** The headers of each message are sorted by name, and not only those of dead letters (rule H12). */
  readonly sortsHeaders: boolean;
  /** Refusals of access name the right that is missing (rule N1). */
  readonly namesRights: boolean;
  /** The keys of `CC` and `BCC` need topic permissions, too (rule N5). */
  readonly checksCopiedTopics: boolean;
  /** A passive declare needs any of the three rights (rule N4). */
  readonly passiveNeedsRight: boolean;
  /** Any `delivery_mode` is taken (rule K7). */
  readonly takesAnyDeliveryMode: boolean;
  /** `user-id` is checked after `expiration` (rule K7). */
  readonly checksUserIdLast: boolean;
  /** Errors name a queue type as 4.3 does, and compare that of a queue without `x-queue-type` as `classic` (rules R3, F10). */
  readonly namesQueueTypes: boolean;
  /** Bytes of a body at most (rules K7, W10). */
  readonly maxMessageSize: number;
  /** The smallest frame-max that a client may ask for, in bytes. Before the client does so, no frame is larger (rule W10). */
  readonly minFrameSize: number;
  /** A 406 that closes the channel instead of a 503 that closes the connection (rule W11). */
  readonly unknownExchangeTypeIsSoft: boolean;
  /** `basic.qos` with global is taken as one without (rule W12). */
  readonly deniesGlobalQos: boolean;
  /** Headers and arguments match if they are the same Erlang term: no integer equals a double (rule P8). */
  readonly matchesTerms: boolean;
  /** The default exchange, too, finds the queues of a transaction at the publish (rule K10). */
  readonly defaultExchangeAhead: boolean;
  /** A direct reply is routed like a message to a queue: a commit sends it (rule K11), and mandatory does not return it (rule S2). */
  readonly routesReplies: boolean;
  /** A lost channel returns messages to a quorum queue by the order of its subscriptions, not by their tags (rule J6). */
  readonly losesInOrder: boolean;
  /** The refusal of a channel has no parentheses (rule N7). */
  readonly bareChannelLimit: boolean;
  /** Policies can be for queues of one type only (rule W13). */
  readonly appliesToQueueTypes: boolean;
}

/** Both are compared with a running RabbitMQ: 3.10.8, and 4.3.6 (section W of the rules). */
export const profiles = {
  '3.10': {
    lastDeathHeaders: false,
    trustsClientDeaths: true,
    removesCarbonCopies: true,
    parsesExpiration: false,
    defaultDeliveryLimit: undefined,
    negativeLimitIsNone: false,
    countsFailuresApart: false,
    queueConsumerTimeouts: false,
    checksAs43: false,
    purgesRetained: false,
    defaultQueueTypes: false,
    quorumPriorities: false,
    sortsHeaders: false,
    namesRights: false,
    checksCopiedTopics: false,
    passiveNeedsRight: false,
    takesAnyDeliveryMode: false,
    checksUserIdLast: false,
    namesQueueTypes: false,
    maxMessageSize: 134_217_728,
    minFrameSize: 4_096,
    unknownExchangeTypeIsSoft: false,
    deniesGlobalQos: false,
    matchesTerms: false,
    defaultExchangeAhead: false,
    routesReplies: false,
    losesInOrder: false,
    bareChannelLimit: false,
    appliesToQueueTypes: false,
  },
  '4': {
    lastDeathHeaders: true,
    trustsClientDeaths: false,
    removesCarbonCopies: false,
    parsesExpiration: true,
    defaultDeliveryLimit: 20,
    negativeLimitIsNone: true,
    countsFailuresApart: true,
    queueConsumerTimeouts: true,
    checksAs43: true,
    purgesRetained: true,
    defaultQueueTypes: true,
    quorumPriorities: true,
    sortsHeaders: true,
    namesRights: true,
    checksCopiedTopics: true,
    passiveNeedsRight: true,
    takesAnyDeliveryMode: true,
    checksUserIdLast: true,
    namesQueueTypes: true,
    maxMessageSize: 16_777_216,
    minFrameSize: 8_192,
    unknownExchangeTypeIsSoft: true,
    deniesGlobalQos: true,
    matchesTerms: true,
    defaultExchangeAhead: true,
    routesReplies: true,
    losesInOrder: true,
    bareChannelLimit: true,
    appliesToQueueTypes: true,
  },
} as const satisfies Record<string, Profile>;

/** The release of RabbitMQ that a broker behaves like. */
export type ProfileName = keyof typeof profiles;

/** The profile of a broker that names none: new clusters are 4.x. */
export const defaultProfile: ProfileName = '4';

/** The name and version of this product, where APIs and protocols show them; `package.json` has the same version. */
export const product = { name: 'dlx-broker', version: '1.0.0' } as const;

/** The release of RabbitMQ that a broker behaves like, as clients and tools see it. */
export const versionOf = ({ profile }: { readonly profile: Profile }): string =>
  profile === profiles['4'] ? '4.3.6' : '3.10.8';
