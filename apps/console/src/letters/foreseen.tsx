import { count } from '../ui/format';
import { Failure } from '../ui/states';
import { Destinations, LeftBehind, MayRefuse } from './outcome';
import type { Planned } from './plan';

/** The answer of the dry run: the exact count, the destinations, and what would stay. */
export function Foreseen(props: { planned: Planned; verb: string }) {
  const { planned, verb } = props;
  const { plan, error, loading } = planned;
  if (error !== undefined) return <Failure error={error} what="what this would do" />;
  if (plan === undefined) {
    return (
      <div class="foreseen" role="status">
        <span class="muted">{loading ? 'Asking the broker what this would do…' : 'Choose where the messages go.'}</span>
      </div>
    );
  }
  return (
    <div class="foreseen" role="status">
      <p class="foreseen-count">
        <b>{count(plan.count)}</b> {verb}
        {plan.left > 0 && <span class="stay">, {count(plan.left)} would stay</span>}
        {plan.gone > 0 && <span class="muted">, {count(plan.gone)} left meanwhile</span>}
      </p>
      <Destinations of={plan.destinations} others={plan.otherDestinations} />
      <LeftBehind of={plan.leftAt} />
      <MayRefuse of={plan.mayRefuse} />
    </div>
  );
}
