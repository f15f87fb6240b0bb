import { useEffect, useRef, useState } from 'preact/hooks';
import { changeList } from '../router';

/** Milliseconds after the last key before a filter applies. */
const pause = 250;

/** A text filter that is in the address as `name`. `/` moves the focus to it; Escape empties it. */
export function TextFilter(props: { label: string; name: string; value: string; placeholder?: string }) {
  const { label, name, value, placeholder } = props;
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const applied = useRef(value);
  useEffect(() => {
    // The address changed by something else, such as the Back button.
    if (value !== applied.current) setText(value);
    applied.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (next: string): void => {
    clearTimeout(timer.current);
    applied.current = next;
    changeList({ [name]: next });
  };
  const change = (next: string): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => apply(next), pause);
  };
  return (
    <label>
      {label}
      <input
        type="search"
        data-filter
        autocomplete="off"
        spellcheck={false}
        value={text}
        placeholder={placeholder}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(text);
          if (event.key !== 'Escape') return;
          if (text === '') event.currentTarget.blur();
          setText('');
          apply('');
        }}
      />
    </label>
  );
}

/** A switch that is in the address as `name=true`. */
export function CheckFilter({ label, name, value }: { label: string; name: string; value: boolean }) {
  return (
    <label class="check filter-check">
      <input
        type="checkbox"
        checked={value}
        onChange={(event) => changeList({ [name]: event.currentTarget.checked })}
      />
      {label}
    </label>
  );
}
