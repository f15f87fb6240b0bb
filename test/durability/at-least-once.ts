import { type Field, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';

/** Arguments of a quorum queue that dead-letters at least once (rule M1). */
export const atLeastOnceTo = (exchange: string): Map<string, Field> =>
  new Map([
    ['x-queue-type', longstr('quorum')],
    ['x-dead-letter-exchange', longstr(exchange)],
    ['x-dead-letter-strategy', longstr('at-least-once')],
    ['x-overflow', longstr('reject-publish')],
  ]);
