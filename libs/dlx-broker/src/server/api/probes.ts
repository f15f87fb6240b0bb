import type { ManagementHost } from '../host.js';
import type { Answer } from '../http/reply.js';

/** The answer of a probe: 200, or 503 with the names of the problems. */
const answer = (problems: readonly string[]): Answer =>
  problems.length === 0
    ? { status: 200, body: { status: 'ok' } }
    : { status: 503, body: { status: 'failed', problems } };

/** The names that `DlxBroker.health()` gives to these problems. */
const nameOf = { storage_failed: 'storage-failed', storage_unreadable: 'storage-unreadable' } as const;

const faultsOf = ({ faults }: ManagementHost): readonly string[] => [
  ...new Set((faults?.() ?? []).map(({ name }) => nameOf[name])),
];

/**
 * The probes of an orchestrator, which has no login. So their answers have no names of queues, no paths and no texts of errors; the
 * checks below `/api/health/checks` tell the details to users.
 */
export const probes: Readonly<Record<string, (host: ManagementHost) => Answer>> = {
  /** Fails when a restart of the process is the remedy. */
  '/api/dlx/health/live': (host) => answer(faultsOf(host).filter((name) => name === nameOf.storage_failed)),
  /** Fails while publishers wait or are refused. */
  '/api/dlx/health/ready': (host) =>
    answer([...faultsOf(host), ...((host.alarms?.() ?? []).length > 0 ? ['alarm'] : [])]),
};
