import type { MonoTypeOperatorFunction } from 'rxjs';
import type { DeathReason } from '../../engine/message/index.js';
import { refused } from '../../platform/options/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { whereAs, type WhereOptions } from './where.js';

/**
 * Passes letters whose latest death had this reason, or one of these. A letter that never died has none. The option `otherwise`
 * decides about the others, see {@link where}.
 * @throws DlxConfigurationError at once for a value that is no reason, and for unknown or impossible options
 */
export function whereReason<L extends ConsumedLetter>(
  reason: DeathReason | readonly DeathReason[],
  options?: WhereOptions<L>,
): MonoTypeOperatorFunction<L> {
  const wanted: readonly string[] = typeof reason === 'string' ? [reason] : reason;
  if (!Array.isArray(wanted) || wanted.length === 0 || wanted.some((each) => !reasons.includes(each))) {
    throw refused(reason, 'whereReason', `is no reason of a death; there are ${reasons.join(', ')}`);
  }
  return whereAs<L>(
    'whereReason',
    ({ deaths: [latest] }) => latest !== undefined && wanted.includes(latest.reason),
    options,
  );
}

const reasons: readonly string[] = ['rejected', 'expired', 'maxlen', 'delivery_limit'] satisfies readonly DeathReason[];
