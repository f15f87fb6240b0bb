/** Counts of the handlers since the start. */
export interface HandlerCounts {
  acked: number;
  rejected: number;
  retried: number;
  parked: number;
  /** Messages that come again as the same attempt, because a service was away. */
  held: number;
  /** Messages that a handler dropped, by `throw new Drop()`. */
  dropped: number;
  /** Messages that were handled before, and were acknowledged without the handler (`@Idempotent`). */
  duplicates: number;
  /** Messages with a routing key for which their queue has no handler. */
  unknownPattern: number;
  undecodable: number;
  /** Messages that the handler settled itself. A message that returned to its queue because its connection was lost is not counted. */
  byHand: number;
}

export const noCounts = (): HandlerCounts => ({
  acked: 0,
  rejected: 0,
  retried: 0,
  parked: 0,
  held: 0,
  dropped: 0,
  duplicates: 0,
  unknownPattern: 0,
  undecodable: 0,
  byHand: 0,
});
