import { signal } from '@preact/signals';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Shows the outcome of an action for some seconds. Failures stay until they are closed. */
export function toast(text: string, kind: Toast['kind'] = 'done'): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-4), { id, text, kind }];
  if (kind === 'done') setTimeout(() => dismiss(id), 6_000);
}

const dismiss = (id: number): void => void (toasts.value = toasts.value.filter((each) => each.id !== id));

/** The outcomes of the latest actions. Screen readers read them aloud. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <p key={id} class={`toast toast-${kind}`}>
          {text}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </button>
        </p>
      ))}
    </div>
  );
}
