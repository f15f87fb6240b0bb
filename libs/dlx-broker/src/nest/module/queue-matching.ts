/**
 * Whether a queue is meant, by its name or a regular expression.
 * @param queue undefined means every queue
 */
export function matching(queue: string | RegExp | undefined): (name: string) => boolean {
  if (queue === undefined) return () => true;
  if (typeof queue === 'string') return (name) => name === queue;
  // A pattern with the flag g or y would remember where it found something.
  const pattern = new RegExp(queue.source, queue.flags.replace(/[gy]/g, ''));
  return (name) => pattern.test(name);
}
