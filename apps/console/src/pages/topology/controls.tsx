import { setQuery } from '../../router';
import { VhostChoice } from '../../ui/vhosts';
import { QueueChoice } from './queue-choice';
import type { Shown } from './graph';

/** The toggles by their names in the address, where `no` is written for what is not shown. */
const toggles = [
  { name: 'bindings', title: 'Bindings' },
  { name: 'dead', title: 'Dead letters' },
  { name: 'alternate', title: 'Alternate exchanges' },
] as const;

/** What the address says is shown. */
export const shownBy = (query: URLSearchParams): Shown => ({
  bindings: query.get('bindings') !== 'no',
  dead: query.get('dead') !== 'no',
  alternate: query.get('alternate') !== 'no',
});

/** Chooses the virtual host, the queue in the middle, and the kinds of edges. */
export function Controls(props: { shown: Shown; vhost: string; vhosts: readonly string[]; queue: string }) {
  const { shown, vhost, vhosts, queue } = props;
  return (
    <div class="filters">
      {vhosts.length > 1 && <VhostChoice value={vhost} names={vhosts} all={false} />}
      <QueueChoice key={vhost} vhost={vhost} value={queue} />
      <fieldset class="toggles">
        <legend class="visually-hidden">Edges</legend>
        {toggles.map(({ name, title }) => (
          <label key={name} class={`check toggle toggle-${name}`}>
            <input
              type="checkbox"
              checked={shown[name]}
              onChange={(event) => setQuery({ [name]: event.currentTarget.checked ? undefined : 'no' })}
            />
            {title}
          </label>
        ))}
      </fieldset>
    </div>
  );
}
