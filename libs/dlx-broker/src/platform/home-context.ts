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
    // Copies are made inside this context: Node 20 copies the context in which a resource is created. No code of an
    // application changes this context, so copies can be made in advance: entering it costs as much as several copies.
    const copy = this.#copies.pop() ?? this.runInAsyncScope(makeCopies, undefined, this.#copies);
    copy.runInAsyncScope(run, self, argument, copy);
  }
}

/** The number of copies that are made together. */
const copiesAtOnce = 16;

type Fresh<This, Argument> = (this: This, argument: Argument, copy: AsyncResource) => void;

/** Makes copies of the present context. @param copies gets all copies but one @returns the last copy */
function makeCopies(copies: AsyncResource[]): AsyncResource {
  for (let left = copiesAtOnce - 1; left > 0; left--) copies.push(new AsyncResource('DlxMessage'));
  return new AsyncResource('DlxMessage');
}
