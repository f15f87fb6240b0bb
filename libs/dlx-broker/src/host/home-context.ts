import { AsyncResource } from 'node:async_hooks';

/**
 * The async context in which this object was created. AsyncLocalStorage follows calls, and an embedded broker delivers in the
 * call stack of a publish, of an ack or of a timer. Without this context a handler would see the AsyncLocalStorage of
 * another request, and a timer would keep it in memory.
 */
export class HomeContext extends AsyncResource {
  /** Copies of this context for the next messages. */
  readonly #copies: AsyncResource[] = [];

  constructor() {
    super('DlxHome');
  }

  /**
   * Runs a function in a new async context, a copy of this one. A call of `enterWith` inside has no effect outside. Errors
   * are thrown to the caller.
   * @param run gets the argument, and the new context, in which later calls can be made
   * @param self the function's `this`
   */
  fresh<This, Argument>(run: Fresh<This, Argument>, self: This, argument: Argument): void {
    // Copies have to be made inside: Node 20 copies the context in which a resource is created. No code of an
    // application runs inside, so a copy can be made before it is needed: to go inside costs as much as to make several.
    const own = this.#copies.pop() ?? this.runInAsyncScope(makeCopies, undefined, this.#copies);
    own.runInAsyncScope(run, self, argument, own);
  }
}

/** The number of copies that are made together. */
const madeTogether = 16;

type Fresh<This, Argument> = (this: This, argument: Argument, own: AsyncResource) => void;

/** Makes copies of the present context. @param copies gets all but one @returns that one */
function makeCopies(copies: AsyncResource[]): AsyncResource {
  for (let left = madeTogether - 1; left > 0; left--) copies.push(new AsyncResource('DlxMessage'));
  return new AsyncResource('DlxMessage');
}
