/**
 * The error of a failed message, as its headers name it. An error test that is a class holds for it by
 * the name of the class alone; `Error` holds for every one.
 */
export class NotedFailure extends Error {
  override readonly name: string;

  /** @param name of the class of the error */
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}
