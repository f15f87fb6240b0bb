import { AsyncResource } from 'node:async_hooks';

/**
 * The async context that was current when this was made. AsyncLocalStorage follows calls, and a broker in the process
 * delivers in the call stack of a publisher, of an ack or of a timer: without this a handler would see the store of
 * another request, and a timer would keep it alive.
 */
export class HomeContext extends AsyncResource {
  constructor() {
    super('DlxHome');
  }

  /**
   * Runs a function in an async context of its own, which begins like this one: what `enterWith` does in there ends with
   * it. Errors come through.
   * @param run gets the argument, and the context as what later calls can be made in
   * @param self the function's `this`
   */
  fresh<This, Argument>(run: Fresh<This, Argument>, self: This, argument: Argument): void {
    // The resource has to be made inside: Node 20 copies the stores of the place where it is made.
    this.runInAsyncScope(runFresh as typeof runFresh<This, Argument>, undefined, run, self, argument);
  }
}

type Fresh<This, Argument> = (this: This, argument: Argument, own: AsyncResource) => void;

function runFresh<This, Argument>(run: Fresh<This, Argument>, self: This, argument: Argument): void {
  const own = new AsyncResource('DlxMessage');
  own.runInAsyncScope(run, self, argument, own);
}
