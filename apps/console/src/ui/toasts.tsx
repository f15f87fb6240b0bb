import { ofSession } from '../session';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

const toasts = ofSession<readonly Toast[]>([]);

/** Shows the outcome of an action for some seconds. Failures stay until they are closed. */
export function toast(text: string, kind: Toast['kind'] = 'done'): void {
  const id = (toasts.value.at(-1)?.id ?? 0) + 1;
  const shown = { id, text, kind };
  toasts.value = [...toasts.value.slice(-4), shown];
  if (kind === 'done') setTimeout(() => dismiss(shown), 6_000);
}

const dismiss = (shown: Toast): void => void (toasts.value = toasts.value.filter((each) => each !== shown));

/** The outcomes of the latest actions. Screen readers read them aloud. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((shown) => (
        <p key={shown.id} class={`toast toast-${shown.kind}`}>
          {shown.text}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => dismiss(shown)}>
            ✕
          </button>
        </p>
      ))}
    </div>
  );
}
