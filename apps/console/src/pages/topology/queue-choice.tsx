import { useEffect, useId, useState } from 'preact/hooks';
import { setQuery } from '../../router';

/** The most names that are offered. */
const mostOffered = 50;

/** Chooses the queue around which the graph is drawn, from names that contain the text. */
export function QueueChoice({ value, names }: { value: string; names: readonly string[] }) {
  const [text, setText] = useState(value);
  const id = useId();
  useEffect(() => setText(value), [value]);
  const offered: string[] = [];
  const wanted = text.toLowerCase();
  for (const name of names) {
    if (offered.length === mostOffered) break;
    if (name.toLowerCase().includes(wanted)) offered.push(name);
  }
  const apply = (next: string): void => {
    if (next === '' || names.includes(next)) setQuery({ queue: next }, { replace: false });
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
          if (next === '' || names.includes(next)) apply(next);
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
