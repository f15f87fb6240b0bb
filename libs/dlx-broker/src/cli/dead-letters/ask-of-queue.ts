import { meantOf } from '../../platform/options/index.js';
import type { Api, Reply, Sent } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { ask, shownQueue } from './ask.js';

/**
 * Asks about a queue.
 * @param more what of the queue is asked for, such as `pause`
 * @throws CtlFailure as {@link ask}. If there is no such queue, it names the one with the most similar name
 */
export async function askOfQueue(
  api: Api,
  method: 'GET' | 'PUT' | 'DELETE',
  [vhost, queue, ...more]: readonly [vhost: string, queue: string, ...more: readonly string[]],
  sent?: Sent,
): Promise<Reply> {
  try {
    return await ask(api, method, ['dlx', 'queues', vhost, queue, ...more], shownQueue(queue, vhost), sent);
  } catch (error) {
    if (!(error instanceof CtlFailure) || error.code !== exit.data) throw error;
    throw new CtlFailure(exit.data, `${error.message}${meantOf(queue, await queuesOf(api, vhost))}`);
  }
}

/** The names of the queues that the user may see; empty if the server does not list them. */
async function queuesOf(api: Api, vhost: string): Promise<readonly string[]> {
  const { status, body } = await api.send('GET', ['queues', vhost], { query: { columns: 'name' } });
  return status === 200 && Array.isArray(body) ? (body as readonly { name: string }[]).map(({ name }) => name) : [];
}
