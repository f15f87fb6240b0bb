/** A command is refused. The message is the one line of output; the exit code is 2. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
