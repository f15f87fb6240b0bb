import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../api/use-resource';
import { ProblemBanner } from './states';

/** A modal dialog. It is open as long as it is rendered; Escape and the backdrop call `close`. */
export function Dialog(props: { title: string; close: () => void; children: ComponentChildren }) {
  const { title, close, children } = props;
  const element = useRef<HTMLDialogElement>(null);
  const pressed = useRef<EventTarget>(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onPointerDown={(event) => (pressed.current = event.target)}
      onClick={(event) => {
        // A press in the dialog that ends outside selects text, and closes nothing.
        if (event.target === element.current && pressed.current === element.current) close();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={close}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** A form in a dialog that sends a request. Its button is off while the request runs. */
export function ActionForm(props: {
  label: string;
  tone?: 'primary' | 'danger';
  isOff?: boolean;
  act: () => Promise<void>;
  close: () => void;
  children: ComponentChildren;
}) {
  const { label, tone = 'primary', isOff = false, act, close, children } = props;
  const { isBusy, problem, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isOff) void run(act);
  };
  return (
    <form class="removal" onSubmit={submit}>
      {children}
      <ProblemBanner text={problem} />
      <DialogActions close={close}>
        <button type="submit" class={tone} disabled={isOff || isBusy}>
          {label}
        </button>
      </DialogActions>
    </form>
  );
}

/** The end of a dialog: the way back, and what the dialog is for. */
export function DialogActions(props: { close: () => void; back?: string; children: ComponentChildren }) {
  const { close, back = 'Cancel', children } = props;
  return (
    <div class="dialog-actions">
      <button type="button" onClick={close}>
        {back}
      </button>
      {children}
    </div>
  );
}
