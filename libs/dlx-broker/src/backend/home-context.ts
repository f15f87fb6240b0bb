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
   * @param self the function's `this`
   */
  fresh<This, Argument>(run: (this: This, argument: Argument) => void, self: This, argument: Argument): void {
    // The resource has to be made inside: Node 20 copies the stores of the place where it is made.
    this.runInAsyncScope(runFresh as typeof runFresh<This, Argument>, undefined, run, self, argument);
  }
}

function runFresh<This, Argument>(run: (this: This, argument: Argument) => void, self: This, argument: Argument): void {
  new AsyncResource('DlxMessage').runInAsyncScope(run, self, argument);
}
