import { meantOf } from '../platform/options/index.js';
import type { Backend } from './backend.js';

/**
 * The end of an error about a queue that is not there: `; did you mean 'orders'?`. Empty if no name of a queue is near, and where the
 * backend cannot list its queues.
 */
export async function nearestQueue({ listing }: Pick<Backend, 'listing'>, name: string): Promise<string> {
  return listing === undefined
    ? ''
    : listing.queueNames().then(
        (names) => meantOf(name, names),
        () => '',
      );
}
