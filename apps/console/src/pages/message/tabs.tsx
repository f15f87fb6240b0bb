/** A choice of views of the same thing. The arrow keys move between the tabs. */
export function Tabs<T extends string>(props: {
  label: string;
  all: readonly (readonly [value: T, text: string])[];
  value: T;
  choose: (value: T) => void;
}) {
  const { label, all, value, choose } = props;
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = all.findIndex(([each]) => each === value);
    const next = all[(index + step + all.length) % all.length];
    if (next === undefined) return;
    choose(next[0]);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab="${next[0]}"]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {all.map(([each, text]) => (
        <button
          key={each}
          type="button"
          role="tab"
          data-tab={each}
          aria-selected={each === value}
          tabIndex={each === value ? 0 : -1}
          onClick={() => choose(each)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
