import type { DlxBroker } from '../index.js';

/** The state of a circuit, as it is when it is read. */
export interface CircuitView {
  readonly name: string;
  readonly state: 'closed' | 'open' | 'probing';
  /** The error that opened it. Undefined while it is closed. */
  readonly reason: string | undefined;
  /** Since when it is in its state. */
  readonly since: Date;
  /** When it tries again. Undefined unless it is open. */
  readonly nextProbe: Date | undefined;
}

type Circuit = DlxBroker['circuits'] extends Iterable<infer Each> ? Each : never;

export const viewOf = ({ name, state, reason, since, nextProbe }: Circuit): CircuitView => ({
  name,
  state,
  reason,
  since: new Date(since),
  nextProbe: nextProbe === undefined ? undefined : new Date(nextProbe),
});
