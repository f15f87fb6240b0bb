import { AsyncResource } from 'node:async_hooks';

/**
 * The async context in which this object was created. AsyncLocalStorage follows calls, and an embedded broker delivers in the
 * call stack of a publish, of an ack or of a timer. Without this context a handler would see the AsyncLocalStorage of
 * another request, and a timer would keep it in memory.
 */
export class HomeContext extends AsyncResource {
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
    // The resource has to be created inside: Node 20 copies the context in which a resource is created.
    this.runInAsyncScope(runFresh as typeof runFresh<This, Argument>, undefined, run, self, argument);
  }
}

type Fresh<This, Argument> = (this: This, argument: Argument, own: AsyncResource) => void;

function runFresh<This, Argument>(run: Fresh<This, Argument>, self: This, argument: Argument): void {
  const own = new AsyncResource('DlxMessage');
  own.runInAsyncScope(run, self, argument, own);
}
