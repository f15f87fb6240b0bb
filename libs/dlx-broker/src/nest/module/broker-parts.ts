import type { Type } from '@nestjs/common';
import type { WaitQueues } from '../retry/index.js';
import type { DeadLetters, Redrives } from '../streams/index.js';
import type { SafeTracing } from '../tracing/index.js';
import type { HealthProbe } from '../features/circuit/index.js';
import type { DlxClient } from '../client/client.js';
import type { HandlerCounts } from '../core/handler-counts.js';
import type { LetterCounts, OutcomeEvents } from '../core/outcome-events.js';
import type { OutboxScope } from '../features/outbox/scope.js';

/** The parts of a broker besides its handlers. */
export interface BrokerParts {
  readonly client: DlxClient;
  readonly waitQueues: WaitQueues;
  readonly events: OutcomeEvents;
  readonly letters: DeadLetters;
  readonly redrives: Redrives;
  /** Finds the outbox of a handler; shared with the client. */
  readonly outboxes: OutboxScope;
  /** Undefined without the option. */
  readonly tracing: SafeTracing | undefined;
  /** Finds a provider by its class. @throws when there is none */
  readonly provider: (type: Type<HealthProbe>) => HealthProbe;
}

/** Counts of the handlers, of the letters of streams and redrives, and of the events of the client. */
export interface BrokerCounts extends HandlerCounts, Pick<LetterCounts, 'redriven' | 'unanswered'> {
  /** Events that no queue got. */
  readonly unroutable: number;
}
