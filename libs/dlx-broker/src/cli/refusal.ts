/** Something asked for cannot be had. Its message is the one line that is shown; the exit code is 2. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
