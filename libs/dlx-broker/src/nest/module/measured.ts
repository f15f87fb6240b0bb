import type { LetterNumbers, MeteredHandlers, MeteredSource } from '../../server/metrics/index.js';
import type { Backend } from '../../backends/index.js';
import { HandlerMeter } from '../core/handler-meter.js';
import type { ConnectedMetrics } from './options.js';
import type { Reports } from '../core/reports.js';

/** What is measured of one broker of an application. */
export interface Measured {
  readonly handlers: MeteredHandlers;
  /** The broker in this process; undefined on a server, which has metrics of its own. */
  readonly source: MeteredSource | undefined;
}

/** A broker of an application, as far as it is measured. */
interface MeasuredBroker {
  readonly name: string;
  readonly backend: Pick<Backend, 'state'>;
  readonly counts: { readonly unroutable: number };
}

/** Measures handlers, and the broker if it is in this process, from now on. */
export function measured(
  broker: MeasuredBroker,
  connected: ConnectedMetrics | undefined,
  reports: Pick<Reports, 'meter'>,
  letters: LetterNumbers,
  added: MeteredHandlers['added'],
): Measured {
  const meter = (reports.meter = new HandlerMeter());
  const handlers: MeteredHandlers = {
    broker: broker.name,
    letters,
    added,
    get handlers() {
      return meter.handlers;
    },
    get unroutable() {
      return broker.counts.unroutable;
    },
    get state() {
      return broker.backend.state.kind;
    },
  };
  connected?.handlers.add(handlers);
  return { handlers, source: connected && { engine: connected.engine, meter: connected.measure() } };
}
