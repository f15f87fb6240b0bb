/** What a publish came to; both can be true at once (rule C10). */
export const enum Outcome {
  Unroutable = 0,
  Routed = 1,
  Refused = 2,
}
