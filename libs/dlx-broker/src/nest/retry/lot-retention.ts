import type { Backend } from '../../backends/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { lotText, type Retention, retentionPolicy, type RetryPlan } from './index.js';
import type { PlannedHandler } from '../core/handler.js';

/** The parking lots of handlers, each with its retention. @throws DlxConfigurationError when two handlers want different ones */
export function retentions(handlers: Iterable<PlannedHandler>): ReadonlyMap<string, Retention | undefined> {
  const known = new Map<string, { readonly retry: RetryPlan; readonly origin: string }>();
  for (const { handler, retry } of handlers) {
    if (retry === undefined) continue;
    const { origin } = handler;
    const before = known.get(retry.parkingLot);
    if (before === undefined) known.set(retry.parkingLot, { retry, origin });
    else if (!areSame(before.retry.retention, retry.retention)) {
      throw new DlxConfigurationError(
        `parking lot '${retry.parkingLot}': ${before.origin} says ${keptBy(before.retry)}, and ${origin} says ${keptBy(retry)}; ` +
          'give both the same parkFor and onExpiry, or a parkingLot each',
      );
    }
  }
  return new Map([...known].map(([lot, { retry }]) => [lot, retry.retention]));
}

const areSame = (one: Retention | undefined, other: Retention | undefined): boolean =>
  one?.after === other?.after && one?.archive === other?.archive;

const keptBy = ({ parkingLot, retention }: RetryPlan): string =>
  retention === undefined ? 'nothing of parkFor' : `'${lotText(parkingLot, retention)}'`;

/**
 * Lets parking lots that exist with other arguments keep messages as long as their policies say. The arguments of a queue cannot change.
 * @param different the queues that exist with other arguments
 * @returns a warning for each parking lot that keeps messages for another time
 */
export function retain(
  lots: ReadonlyMap<string, Retention | undefined>,
  different: ReadonlySet<string>,
  backend: Pick<Backend, 'retain'>,
): readonly string[] {
  const warnings: string[] = [];
  for (const [lot, retention] of lots) {
    if (!different.has(lot)) {
      backend.retain?.(lot, undefined); // its arguments say it
    } else if (retention === undefined) {
      warnings.push(
        `parking lot '${lot}' was declared with a time to live or a dead-letter exchange and keeps it, though its @Retry has no parkFor: ` +
          'parked messages may leave it',
      );
    } else {
      const warning = policyWarning(lot, retention, backend);
      if (warning !== undefined) warnings.push(warning);
    }
  }
  return warnings;
}

/** Sets a policy for a parking lot, or names the policy that an operator has to set. */
function policyWarning(lot: string, retention: Retention, backend: Pick<Backend, 'retain'>): string | undefined {
  const definition = retentionPolicy(retention);
  const start = `parking lot '${lot}' exists with other arguments, which cannot change`;
  if (backend.retain !== undefined) {
    const fault = backend.retain(lot, definition);
    return fault && `${start}, and a policy does not make it '${lotText(lot, retention)}' either: ${fault}`;
  }
  const pattern = `^${lot.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')}$`;
  const command = `rabbitmqctl set_policy '${lot}.retention' '${pattern}' '${JSON.stringify(definition)}' --apply-to queues`;
  return `${start}; unless a policy says '${lotText(lot, retention)}' already, set one: ${command}`;
}
