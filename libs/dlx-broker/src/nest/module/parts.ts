import type { Backend } from '../../backends/index.js';
import { shownText } from '../../platform/index.js';
import { DlxClient } from '../client/client.js';
import { StartGate } from '../client/client-state.js';
import { errorFacts, logSubscriberError, stackOf, textOf } from '../core/failure-log.js';
import { OutcomeEvents } from '../core/outcome-events.js';
import { OutboxScope } from '../features/outbox/scope.js';
import { EventLog } from '../log/event-log.js';
import { Notices, WaitQueues } from '../retry/index.js';
import { DeadLetters, type DeadLettersOptions, type QueueNames, Redrives } from '../streams/index.js';
import { SafeTracing } from '../tracing/index.js';
import type { BrokerParts } from './broker.js';
import type { ResolvedOptions } from './options.js';

/** Makes the parts of a broker, and writes what they report to its log. */
export function makeParts(options: ResolvedOptions, backend: Backend): Omit<BrokerParts, 'provider'> {
  const { name, events, requests, envelope, waitQueueType, errorHistory, notices, logging } = options;
  const logOf = (part: string): EventLog => new EventLog(`${part} ${name}`, logging);
  const log = logOf('DlxBroker');
  const outcomes = new OutcomeEvents(backend, logSubscriberError(log, 'the events'));
  const outboxes = new OutboxScope();
  const tracing = options.tracing && new SafeTracing(options.tracing, logTracing(logOf('DlxTracing')));
  const waitQueues = new WaitQueues(
    backend,
    waitQueueType,
    '',
    notices === undefined ? undefined : new Notices(backend, notices, logLostNotices(log)),
  );
  const client = new DlxClient({
    backend,
    events: events.name,
    requests: requests.name,
    waitQueueType,
    envelope,
    logging,
    outboxes,
    gate: new StartGate(backend.clock),
    tracing,
  });
  const letters = new DeadLetters(backend, {
    waitQueues,
    errorHistory,
    tracing,
    ...reportsTo(logOf('DeadLetters')),
    settled: (...letter) => outcomes.ofLetter(...letter),
    unanswered: () => outcomes.letters.unanswered++,
  });
  const ofRedrives = logOf('Redrives');
  const redrives = new Redrives(
    backend,
    letters,
    (failure) => {
      const text = `the function that looks at the tasks of a schedule failed: ${textOf(failure)}`;
      ofRedrives.write('observerFailed', text, errorFacts(failure), stackOf(failure));
    },
    logSubscriberError(ofRedrives, 'a redrive'),
    (failure, names) => {
      const queues = shownText(names.join(', '));
      const text = `the redrive of ${queues} by a schedule failed, which the schedule tries again: ${textOf(failure)}`;
      ofRedrives.write('redriveFailed', text, { queues, ...errorFacts(failure) });
    },
  );
  return { client, waitQueues, events: outcomes, letters, redrives, outboxes, tracing };
}

const logTracing =
  (log: EventLog) =>
  (failure: unknown): void => {
    const text = `tracing failed, and messages are handled without it; further failures are not logged: ${textOf(failure)}`;
    log.write('tracingFailed', text, errorFacts(failure));
  };

/** Logs messages that were parked without their notice, once for each queue. */
function logLostNotices(log: EventLog): (failure: unknown, queue: string) => void {
  const logged = new Set<string>();
  return (failure, queue) => {
    if (logged.has(queue)) return;
    logged.add(queue);
    const text = `a message of '${shownText(queue)}' was parked without its notice: ${textOf(failure)}; further ones of this queue are not logged`;
    log.write('noticeLost', text, { queue, ...errorFacts(failure) });
  };
}

/** Logs failures of a pipeline. If it restarts, the reason is logged once, and then the number of failures at 10, at 100 ... */
function reportsTo(log: EventLog): Pick<DeadLettersOptions, 'report' | 'endFailed'> {
  const shown = (queues: QueueNames): string => shownText(String(queues));
  return {
    report: (failure, names, { times, pause, isNew }) => {
      const queues = shown(names);
      if (isNew) {
        const text = `the pipeline of ${queues} failed and restarts in ${pause} ms: ${textOf(failure)}`;
        log.write('pipelineFailed', text, { queues, pause, ...errorFacts(failure) }, stackOf(failure));
      } else if (Number.isInteger(Math.log10(times))) {
        const text = `the pipeline of ${queues} failed ${times} times in a row; it restarts in ${pause} ms`;
        log.write('pipelineFailing', text, { queues, times, pause });
      }
    },
    endFailed: (failure, names) => {
      const queues = shown(names);
      const text = `the pipeline of ${queues} has ended, and threw an error: ${textOf(failure)}`;
      log.write('pipelineEnded', text, { queues, ...errorFacts(failure) }, stackOf(failure));
    },
  };
}
