import type { Backend } from '../../backends/index.js';
import { shownText } from '../../platform/index.js';
import { Notices } from '../retry/index.js';
import { EventLog } from '../log/event-log.js';
import { errorFacts, textOf } from '../core/failure-log.js';
import type { DlxBrokerOptions } from './options.js';

/** Publishes notices of parked messages. A message that is parked without its notice is in the log, once for each queue. */
export function noticesOf({ notices, logging }: DlxBrokerOptions, backend: Backend, name: string): Notices | undefined {
  if (notices === undefined) return undefined;
  const log = new EventLog(`DlxBroker ${name}`, logging);
  const logged = new Set<string>();
  return new Notices(backend, notices, (failure, queue) => {
    if (logged.has(queue)) return;
    logged.add(queue);
    const text = `a message of '${shownText(queue)}' was parked without its notice: ${textOf(failure)}; further ones of this queue are not logged`;
    log.write('noticeLost', text, { queue, ...errorFacts(failure) });
  });
}
