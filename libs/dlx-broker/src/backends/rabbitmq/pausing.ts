import type { HttpApi } from '../../platform/index.js';
import type { QueuePausing } from '../backend.js';
import { TopologyError } from '../errors.js';
import { callManagement, readAnswer } from './call-management.js';

/** Pauses queues of a dlx-broker over its HTTP API. */
export function pausingOver(api: HttpApi, virtualHost: string): QueuePausing {
  const pathOf = (queue: string): readonly string[] => ['dlx', 'queues', virtualHost, queue];
  // The answer to a change of a missing queue looks like any other refusal.
  const rowOf = async (queue: string): Promise<Readonly<Record<string, unknown>>> => {
    const found = await callManagement(api, 'GET', pathOf(queue));
    if (found === undefined) throw new TopologyError(`no queue '${queue}' in vhost '${virtualHost}'`);
    return found as Readonly<Record<string, unknown>>;
  };
  return {
    async pause(queue, { reason, for: time } = {}) {
      await rowOf(queue);
      const body = { ...(reason !== undefined && { reason }), ...(time !== undefined && { for: `${time}ms` }) };
      await callManagement(api, 'PUT', [...pathOf(queue), 'pause'], undefined, body);
    },
    async resume(queue) {
      await rowOf(queue);
      await callManagement(api, 'DELETE', [...pathOf(queue), 'pause']);
    },
    async pauseOf(queue) {
      const { paused } = await rowOf(queue);
      if (paused === null || paused === undefined) return undefined;
      return readAnswer(api, `a look at queue '${queue}'`, () => {
        const { reason, by, since, until } = paused as Readonly<Record<string, unknown>>;
        if (typeof reason !== 'string' || typeof since !== 'number') throw new TypeError('no pause');
        return {
          reason,
          by: typeof by === 'string' ? by : undefined,
          since,
          until: typeof until === 'number' ? until : undefined,
        };
      });
    },
  };
}
