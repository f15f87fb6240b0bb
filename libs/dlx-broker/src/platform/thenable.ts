/** True also for promises of another library or another realm. */
export const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
