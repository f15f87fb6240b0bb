import { emptyTable, type FieldTable } from '../../engine/message/index.js';
import type { Failed, Taken } from './handler.js';
import type { Feature, Move, Settled } from './feature.js';

/** The present time of the machine, for {@link Settled.since}. */
export const timeOfMove = (): number => performance.timeOrigin + performance.now();

/** The features that follow what becomes of messages. */
export class Followers {
  readonly #settled: readonly Required<Pick<Feature, 'settled'>>[];
  readonly #headers: readonly Required<Pick<Feature, 'headers'>>[];
  readonly #fingerprint: Feature['fingerprint'];

  constructor(features: readonly Feature[]) {
    this.#settled = features.filter(
      (each): each is Feature & Required<Pick<Feature, 'settled'>> => each.settled !== undefined,
    );
    this.#headers = features.filter(
      (each): each is Feature & Required<Pick<Feature, 'headers'>> => each.headers !== undefined,
    );
    const grouping = features.find(({ fingerprint }) => fingerprint !== undefined);
    this.#fingerprint = grouping && ((failed) => grouping.fingerprint!(failed));
  }

  /** False if no feature wants to hear of {@link settled}. */
  get any(): boolean {
    return this.#settled.length > 0;
  }

  settled(taken: Taken, settled: Settled): void {
    for (const each of this.#settled) each.settled(taken, settled);
  }

  /** The headers that a failure adds to the successor of its message. */
  headers(failed: Failed, move: Move): FieldTable {
    let headers = emptyTable;
    for (const each of this.#headers) headers = each.headers(failed, move, headers);
    return headers;
  }

  /** A function for the fingerprint of a failure; undefined if no feature has one. */
  fingerprint(failed: Failed): (() => string) | undefined {
    const fingerprint = this.#fingerprint;
    return fingerprint && (() => fingerprint(failed));
  }

  /** The fingerprint for an event. */
  grouped(failed: Failed): { readonly fingerprint?: string } {
    return this.#fingerprint === undefined ? {} : { fingerprint: this.#fingerprint(failed) };
  }
}
