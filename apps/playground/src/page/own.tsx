import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { readTopology } from '../world/topology';
import { World } from '../world/world';
import { commands, open, setup, view } from './session';
import { specOf } from './spec-text';

/** The text of the topology, and the text that is shown to be copied. */
const text = signal('');
const copied = signal<{ readonly title: string; readonly text: string } | undefined>(undefined);

/** The topology as text, to edit and to open. */
export function Own() {
  const [error, setError] = useState('');
  useEffect(() => {
    text.value = JSON.stringify(setup.value.topology, undefined, 2);
    setError('');
  }, [setup.value]);
  const apply = (): void => {
    try {
      const next = { ...setup.value, topology: readTopology(JSON.parse(text.value)) };
      open(next);
      setError('');
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return (
    <details class="card own">
      <summary>Your own topology</summary>
      <div class="card-body">
        <p class="muted" id="own-form">
          The definitions that RabbitMQ exports and imports, as JSON. Other parts of an export are left out.
        </p>
        <textarea
          aria-label="Definitions"
          aria-describedby={error === '' ? 'own-form' : 'own-error'}
          aria-invalid={error !== ''}
          rows={14}
          spellcheck={false}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        {error !== '' && (
          <p class="banner banner-failed" id="own-error" role="alert">
            {error}
          </p>
        )}
        <button type="button" class="primary" onClick={apply}>
          Open
        </button>
      </div>
    </details>
  );
}

/** Buttons that show the world in other forms. */
export function Share() {
  const { state } = view.value;
  const definitions = (): string => {
    const { exchanges, queues, bindings, policies } = World.replay(setup.value, commands.value).state;
    const named = (list: readonly object[]): object[] => list.map((each) => ({ vhost: '/', ...each }));
    const declared = queues.map(({ name, durable, auto_delete, arguments: table }) => ({
      name,
      durable,
      auto_delete,
      arguments: table ?? {},
    }));
    return JSON.stringify(
      {
        vhosts: [{ name: '/' }],
        exchanges: named(exchanges.map((each) => ({ arguments: {}, ...each }))),
        queues: named(declared),
        bindings: named(bindings.map((each) => ({ arguments: {}, ...each }))),
        policies: named(policies),
      },
      undefined,
      2,
    );
  };
  const show = (title: string, of: () => string): void => void (copied.value = { title, text: of() });
  return (
    <div class="share">
      <button type="button" onClick={() => show('A link to this moment', () => location.href)}>
        Link
      </button>
      <button type="button" onClick={() => show('A test', () => specOf(setup.value, commands.value, state))}>
        As a test
      </button>
      <button type="button" onClick={() => show('Definitions for rabbitmqctl import_definitions', definitions)}>
        As definitions
      </button>
    </div>
  );
}

/** The text of the last button of {@link Share}, to be copied. */
export const Copied = () => (copied.value === undefined ? null : <Copy {...copied.value} />);

function Copy({ title, text: shown }: { title: string; text: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const [isDone, setDone] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const copy = async (): Promise<void> => {
    area.current?.select();
    await navigator.clipboard.writeText(shown);
    setDone(true);
  };
  return (
    <dialog ref={dialog} aria-label={title} onClose={() => (copied.value = undefined)}>
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </header>
        <textarea
          ref={area}
          class="copied"
          aria-label={title}
          readOnly
          rows={Math.min(24, shown.split('\n').length + 1)}
          value={shown}
        />
        <div class="dialog-actions">
          {/* Without the permission the text stays selected, for the keyboard. */}
          <button type="button" class="primary" onClick={() => void copy().catch(() => undefined)}>
            {isDone ? 'Copied' : 'Copy'}
          </button>
        </div>
      </div>
    </dialog>
  );
}
