import type { Death } from '../../api/types';

/** A hop of a message: a death, and how long it waited since the hop before. */
export interface Hop {
  readonly death: Death;
  /** Milliseconds; undefined if it is unknown. */
  readonly waited: number | undefined;
}

/**
 * The deaths of a message from the first to the last. The API lists the latest first.
 * @param start milliseconds since 1970 of the publish, if it is known
 */
export function hopsOf(deaths: readonly Death[], start?: number): readonly Hop[] {
  let before = start;
  return deaths.toReversed().map((death) => {
    // The time of an entry is that of its first death. In a loop a later hop can therefore have an earlier time.
    const waited = before === undefined || death.time < before || death.time === 0 ? undefined : death.time - before;
    before = death.time === 0 ? before : death.time;
    return { death, waited };
  });
}

/** The time of the publish by the property `timestamp`, which has seconds: milliseconds since 1970. */
export function publishedAt(properties: Readonly<Record<string, unknown>>): number | undefined {
  const { timestamp } = properties;
  const seconds = typeof timestamp === 'number' ? timestamp : undefined;
  return seconds === undefined || seconds <= 0 || seconds > 8.64e12 ? undefined : seconds * 1000;
}
