import type { Type } from '@nestjs/common';
import { DlxConfigurationError, optionsOf, parseDuration, refused, whole } from '../../../platform/options/index.js';
import {
  anyOf,
  type Backoff,
  type ErrorTests,
  planWaits,
  type Schedule,
  stepUp,
  type Wait,
} from '../../retry/index.js';
import type { Reader } from '../../module/check-options.js';

/** A provider that knows whether a dependency is up. */
export interface HealthProbe {
  /** True if it is worth trying a message. */
  isUp(): boolean | Promise<boolean>;
}

/** When the handlers of a circuit get no messages, and how the circuit finds out that they may get messages again. */
export interface CircuitOptions {
  /**
   * The errors of the dependency: a message that fails with one of them comes again later, as the same attempt. Default: the errors
   * that the retry policy would retry count, and use attempts while the circuit is closed.
   */
  readonly on?: ErrorTests;
  /** The share of failures, above 0 and up to 1, at which the circuit opens. Default 0.5. */
  readonly share?: number;
  /** The circuit does not open by its share before so many messages ended within its window. Default 20. */
  readonly atLeast?: number;
  /** The length of the window: milliseconds or `'1m'`, which is the default. */
  readonly within?: Wait;
  /**
   * How long the circuit stays open before it tries again: a wait, a list of waits (the last one repeats), or a rule that grows.
   * Default: 10 seconds, doubled each time, at most 5 minutes.
   */
  readonly pause?: Wait | readonly Wait[] | Backoff;
  /** So many messages in a row have to succeed, one at a time, before the circuit closes. Default 1. */
  readonly probes?: number;
  /** The class of a provider that is asked before a message is tried. Default: messages alone decide. */
  readonly probe?: Type<HealthProbe>;
  /** How often one message is held while the circuit is closed. Then its error is an ordinary failure. Default 100. */
  readonly holds?: number;
}

/** {@link CircuitOptions}, checked and complete. */
export interface ResolvedCircuit {
  /** Undefined without the option. */
  readonly on: ((error: unknown) => boolean) | undefined;
  readonly share: number;
  readonly atLeast: number;
  readonly within: number;
  readonly pauses: Schedule;
  readonly probes: number;
  readonly probe: Type<HealthProbe> | undefined;
  readonly holds: number;
}

export const circuitOptions = ['on', 'share', 'atLeast', 'within', 'pause', 'probes', 'probe', 'holds'] as const;

const remedy = "write { on: [BankDown], pause: '10s' }";

const defaultPause: Backoff = { type: 'exponential', delay: '10s', max: '5m' };

/** The number of pauses that are worked out beforehand. A growing pause without `max` is refused by it. */
const pausesAhead = 1_000;

/** Reads the circuits of the module. @returns them by their names @throws DlxConfigurationError naming the option and the value */
export const readCircuits: Reader<ReadonlyMap<string, ResolvedCircuit>> = (value = {}, origin) => {
  const circuits = optionsOf(value, origin, `write { bank: { on: [BankDown], pause: '10s' } }`);
  const given = Object.entries(circuits).filter(([, options]) => options !== undefined);
  return new Map(
    given.map(([name, options]) => {
      if (name === '') throw new DlxConfigurationError(`${origin}: a circuit has an empty name; write a name`);
      return [name, resolveCircuit(options as CircuitOptions, `${origin}, circuit '${name}'`)];
    }),
  );
};

/** @throws DlxConfigurationError naming the option and the value */
export function resolveCircuit(given: CircuitOptions, origin: string): ResolvedCircuit {
  const {
    on,
    share = 0.5,
    atLeast = 20,
    within = '1m',
    pause = defaultPause,
    probes = 1,
    probe,
    holds = 100,
  } = optionsOf<CircuitOptions>(given, origin, remedy, circuitOptions);
  if (typeof share !== 'number' || !(share > 0 && share <= 1)) {
    throw refused(share, `${origin}: share`, 'is no share; write a number above 0, up to 1');
  }
  if (typeof pause === 'function') {
    throw refused(
      pause,
      `${origin}: pause`,
      "is a function; write '10s', ['10s', '1m'] or { type: 'exponential', delay: '10s' }",
    );
  }
  if (probe !== undefined && typeof (probe.prototype as Partial<HealthProbe> | undefined)?.isUp !== 'function') {
    throw refused(
      probe,
      `${origin}: probe`,
      'is no class with a method isUp(); write the class of a provider that has one',
    );
  }
  const window = parseDuration(within, `${origin}: within`);
  if (window === 0) throw refused(within, `${origin}: within`, "is 0, in which nothing can happen; write '1m'");
  return {
    on: on === undefined ? undefined : anyOf(on, `${origin}: on`),
    share,
    atLeast: from(1, atLeast, `${origin}: atLeast`),
    within: window,
    pauses: planWaits(pause, pausesAhead, origin, 'pause'),
    probes: from(1, probes, `${origin}: probes`),
    probe,
    holds: from(0, holds, `${origin}: holds`),
  };
}

const from = (least: number, value: number, origin: string): number =>
  whole(least, Number.MAX_SAFE_INTEGER).read(value, origin).value as number;

/** A wait of a circuit: one that its options name, or the next longer step, because each distinct wait needs a queue of its own. */
export const roundedPause = (pause: number, { pauses }: Pick<ResolvedCircuit, 'pauses'>): number =>
  pauses.exact.includes(pause) ? pause : stepUp(Math.max(1, pause));
