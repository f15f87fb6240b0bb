import { classicDialect, type Dialect, modernDialect } from '../message/index.js';

/** What differs between the versions of RabbitMQ that the broker can behave like; one row per version. */
export interface Profile {
  /** How deaths are written and whether a client's `x-death` is believed (rules W2, W3). */
  readonly dialect: Dialect;
  /** The limit of a quorum queue that names none (rule W6). */
  readonly defaultDeliveryLimit: number | undefined;
  /** A 406 that closes the channel instead of a 503 that closes the connection (rule W11). */
  readonly unknownExchangeTypeIsSoft: boolean;
  /** Bytes of a body at most (rules K7, W10). */
  readonly maxMessageSize: number;
}

/** 3.10 is verified against a running broker; 4 is taken from public source and documentation (section W of the rules). */
export const profiles = {
  '3.10': {
    dialect: classicDialect,
    defaultDeliveryLimit: undefined,
    unknownExchangeTypeIsSoft: false,
    maxMessageSize: 134_217_728,
  },
  '4': {
    dialect: modernDialect,
    defaultDeliveryLimit: 20,
    unknownExchangeTypeIsSoft: true,
    maxMessageSize: 16_777_216,
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof profiles;
