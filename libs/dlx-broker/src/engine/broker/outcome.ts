/** The result of a publish. Flags, of which several can be set (rule C10). */
export const enum Outcome {
  Unroutable = 0,
  Routed = 1,
  Refused = 2,
  /** A queue drops, in later turns, messages that this one displaced. */
  Dropping = 4,
}
