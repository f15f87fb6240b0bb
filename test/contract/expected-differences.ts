/** What a real broker does otherwise than the rules say, by driver: its known bugs, which the engine does not copy. */
export const expectedDifferences: Readonly<Record<string, readonly ExpectedDifference[]>> = {};

export interface ExpectedDifference {
  /** The case. */
  readonly name: string;
  /** The rule of the list of known bugs. */
  readonly rule: string;
  readonly observed: unknown;
}
