import { useEffect, useId, useState } from 'preact/hooks';
import { request } from '../../api/http';
import { useResource } from '../../api/use-resource';
import { pauseOfTyping } from '../../api/wait';
import { setQuery } from '../../router';

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
