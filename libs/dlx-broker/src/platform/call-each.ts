/**
 * Calls a function for each item, also for those behind one for which it throws.
 * @param failed called with each error
 */
export function callEach<T>(items: Iterable<T>, call: (item: T) => void, failed: (error: unknown) => void): void {
  for (const item of items) {
    try {
      call(item);
    } catch (error) {
      failed(error);
    }
  }
}
