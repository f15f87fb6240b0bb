import { describe, expect, it } from 'vitest';
import { queueNamed, topologyOf } from '../../../../../test/harnesses/declared.js';
import { longstr } from '../../engine/message/index.js';
import { harness } from '../../nest/testing/harness.js';

/** A topology of one queue that names its type. */
const ofType = (type: string) => topologyOf(queueNamed('q', new Map([['x-queue-type', longstr(type)]])));

describe.each(['3.10', '4'] as const)('a topology that is declared again, with profile %s', (rabbitmq) => {
  it.each(['classic', 'quorum'] as const)('fits a queue without a type where the default is %s', async (type) => {
    const { backend, broker } = harness({ rabbitmq });
    broker.addVirtualHost('/', { description: '', tags: [], defaultQueueType: type });
    const [is, isNot] = rabbitmq === '4' && type === 'quorum' ? ['quorum', 'classic'] : ['classic', 'quorum'];
    for (let round = 0; round < 2; round++) await backend.declare(topologyOf(queueNamed('q')));
    await backend.declare(ofType(is));
    await expect(backend.declare(ofType(isNot))).rejects.toThrow("queue 'q' x-queue-type");
    await backend.close();
  });
});
