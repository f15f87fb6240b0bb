/** The last millisecond that a date can have. A publisher may write a timestamp in microseconds, or forge a death. */
const lastDate = 8.64e15;

/** A time that a date can have; undefined for others. */
export const dateAt = (time: number | undefined): number | undefined =>
  time !== undefined && Math.abs(time) <= lastDate ? time : undefined;
