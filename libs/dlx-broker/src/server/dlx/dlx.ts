import type { Broker } from '../../engine/broker/index.js';
import { AuditLog, type AuditSink } from '../audit/audit-log.js';
import type { EditRow } from './edit/redrive-edit.js';
import type { QueueRedrive } from './redrives/queue-redrive.js';
import { sharedNames } from './redrives/redrive-order.js';
import { QueueRedrives } from './redrives/redrives.js';
import { EventStreams } from './event-streams.js';
import { DeadLetterGraphs } from './graph/dead-letter-graphs.js';
import { filterToJson } from './input.js';
import { Instances } from './instances.js';
import { SharedTurns, type Turns } from '../http/turns.js';

/** The parts that {@link Dlx} gets from its host. All but the broker are optional. */
export interface DlxParts {
  readonly broker: Broker;
  /** Stores the audit log. */
  readonly audit?: AuditSink;
  readonly turns?: Turns;
  /** Gets internal errors, and no errors of clients. */
  readonly log?: (error: unknown) => void;
}

/** The state of `/api/dlx` that outlives a request: running redrives, the audit log, event streams. */
export class Dlx {
  readonly audit: AuditLog;
  readonly redrives: QueueRedrives;
  readonly streams: EventStreams;
  readonly turns: Turns;
  readonly instances = new Instances();
  readonly graphs: DeadLetterGraphs;
  readonly #sink: AuditSink | undefined;

  constructor({ broker, audit, turns = new SharedTurns(), log }: DlxParts) {
    this.#sink = audit;
    this.turns = turns;
    this.graphs = new DeadLetterGraphs(turns);
    this.audit = new AuditLog(() => broker.clock.now(), audit);
    this.redrives = new QueueRedrives({
      clock: broker.clock,
      ended: (task) => this.#ended(task),
      edited: (task, rows) => this.#edited(task, rows),
      log,
    });
    this.streams = new EventStreams(broker, this.redrives);
  }

  /** Stops redrives, ends streams, and waits until the audit log is written. */
  async close(): Promise<void> {
    this.redrives.close();
    this.streams.close();
    await this.#sink?.close();
  }

  /** Which messages of a redrive were edited. */
  #edited({ id, order }: QueueRedrive, rows: readonly EditRow[]): void {
    const { vhost, queue } = sharedNames(order);
    this.audit.record({
      user: order.by,
      from: '',
      action: 'messages edited',
      names: { ...(vhost !== undefined && { vhost }), ...(queue !== undefined && { name: queue }) },
      details: { task: id, edited: rows.length },
      rows: rows.map(([message, before, after]) => ({
        id: String(message),
        payload_sha256_before: before,
        payload_sha256: after,
      })),
    });
  }

  #ended({ id, order, state, reason, counts }: QueueRedrive): void {
    const { moved, left, gone, cameBack } = counts;
    const { vhost, queue } = sharedNames(order);
    this.audit.record({
      user: order.by,
      from: '',
      action: `redrive ${state}`,
      names: { ...(vhost !== undefined && { vhost }), ...(queue !== undefined && { name: queue }) },
      details: {
        task: id,
        ...(order.groups === undefined ? { filter: filterToJson(order.filter) } : { groups: order.groups.length }),
        ...(order.edit && { edit: order.edit.json }),
        moved,
        left,
        gone,
        came_back: cameBack,
        reason,
      },
    });
  }
}
