/**
 * The error of a failed message, as its headers name it. A policy that tests for a class compares only the name of the class;
 * `Error` fits every failure.
 */
export class NotedFailure extends Error {
  override readonly name: string;

  /** @param name of the class of the error */
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}
