/** What a publish came to; several can be true at once (rule C10). */
export const enum Outcome {
  Unroutable = 0,
  Routed = 1,
  Refused = 2,
  /** A queue drops in turns what the message took the place of. */
  Dropping = 4,
}
