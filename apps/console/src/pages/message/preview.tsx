import type { Letter } from '../../api/types';
import type { QueueName } from '../../letters/api';
import { Destinations } from '../../letters/outcome';
import { planRedrive, usePlan } from '../../letters/plan';
import { whyLeft } from '../../letters/words';
import { Card, Name } from '../../ui/parts';

/** Where a redrive of a message would route it, by a dry run. */
export function Preview({ of, name }: { of: Letter; name: QueueName }) {
  const target = { ...name, ids: [of.id] };
  const { plan, error } = usePlan(JSON.stringify(target), (signal) => planRedrive([target], {}, signal));
  const [left] = plan?.leftAt ?? [];
  return (
    <Card id="preview" title="A redrive would send it to">
      <div class="card-body preview">
        {error !== undefined && (
          <p class="muted">{error.isForbidden ? 'You have no right to redrive it.' : error.message}</p>
        )}
        {plan === undefined && error === undefined && <p class="muted">Asking the broker…</p>}
        {plan !== undefined && plan.count > 0 && (
          <>
            <Destinations of={plan.destinations} others={plan.otherDestinations} />
            {of.origin !== null && (
              <small>
                by <Name of={of.origin.exchange} /> → <Name of={of.origin.routing_key} empty="(no key)" />, its recorded
                origin
              </small>
            )}
          </>
        )}
        {plan !== undefined && left !== undefined && (
          <p class="banner">
            Nowhere: {whyLeft(left.why)}
            {left.exchange !== null && (
              <>
                {' '}
                (<Name of={left.exchange} /> → <Name of={left.routing_key ?? ''} empty="(no key)" />)
              </>
            )}
            .{plan.withoutOrigin > 0 && ' Redrive asks you for a destination.'}
          </p>
        )}
        {plan !== undefined && plan.gone > 0 && <p class="muted">The message has left the queue.</p>}
      </div>
    </Card>
  );
}
