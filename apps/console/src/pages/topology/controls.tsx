import { useEffect, useId, useState } from 'preact/hooks';
import { request } from '../../api/http';
import { useResource } from '../../api/use-resource';
import { pauseOfTyping } from '../../api/wait';
import { setQuery } from '../../router';
import { VhostChoice } from '../../ui/vhosts';
import type { Shown } from '../../drawing/graph';

/** The most names that are offered. */
const mostOffered = 50;

/** Chooses the queue around which the graph is drawn, from names that contain the text. The server finds them. */
export function QueueChoice({ vhost, value }: { vhost: string; value: string }) {
  const [text, setText] = useState(value);
  const id = useId();
  useEffect(() => setText(value), [value]);
  const found = useResource(`names ${vhost} ${text}`, async (signal) => {
    await pauseOfTyping(signal);
    return request<{ items: readonly { name: string }[] }>('dlx/queues', {
      signal,
      query: { vhost, name: text, page_size: mostOffered },
    });
  });
  const offered = found.data?.items.map(({ name }) => name) ?? [];
  const apply = (next: string): void => {
    if (next === '' || offered.includes(next)) setQuery({ queue: next }, { replace: false });
    else if (offered[0] !== undefined) setQuery({ queue: offered[0] }, { replace: false });
  };
  return (
    <label>
      Around the queue
      <input
        type="search"
        data-filter
        list={id}
        autocomplete="off"
        spellcheck={false}
        placeholder="All queues"
        value={text}
        onInput={(event) => {
          const next = event.currentTarget.value;
          setText(next);
          // Chosen from the list, or emptied.
          if (next === '' || offered.includes(next)) apply(next);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(text);
        }}
      />
      <datalist id={id}>
        {offered.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

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

const entries = [
  ['binding', 'binding'],
  ['dead', 'dead letters'],
  ['retry', 'retry loop'],
  ['spin', 'loop without a wait'],
  ['dropped', 'loop that may drop'],
  ['alternate', 'alternate exchange'],
] as const;

/** What the lines of the graph are. */
export function Legend() {
  return (
    <ul class="graph-legend" aria-label="Lines of the graph">
      {entries.map(([look, text]) => (
        <li key={look}>
          <svg width="30" height="10" aria-hidden="true">
            <path class={`edge edge-${look}`} d="M1 5H29" />
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}
