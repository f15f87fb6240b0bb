import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { apiErrorOf } from '../../api/http';
import type { Action, ActionKind } from '../../letters/action-dialog';
import { exportLetters, mostExported, type Target } from '../../letters/api';
import { messages } from '../../letters/words';
import { isReadOnly } from '../../session';
import { toast } from '../../ui/toasts';

/** The chosen rows of a list, by their keys. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  readonly set: (keys: Iterable<string>) => void;
}

/** A selection that is forgotten when `scope` changes. */
export function useSelection(scope: string): Selection {
  const [state, setState] = useState<{ scope: string; keys: ReadonlySet<string> }>({ scope, keys: new Set() });
  const keys = state.scope === scope ? state.keys : new Set<string>();
  return {
    keys,
    toggle: (key) => {
      const next = new Set(keys);
      if (!next.delete(key)) next.add(key);
      setState({ scope, keys: next });
    },
    set: (all) => setState({ scope, keys: new Set(all) }),
  };
}

/** Buttons for everything that can be done with messages. A user who only looks gets the export only. */
export function Actions(props: { what: string; targets: readonly Target[]; start: (action: Action) => void }) {
  const { what, targets, start } = props;
  const begin = (kind: ActionKind) => () => start({ kind, what, targets });
  return (
    <>
      {!isReadOnly() && (
        <>
          <button type="button" class="primary" onClick={begin('redrive')}>
            Redrive…
          </button>
          <button type="button" onClick={begin('park')}>
            Park…
          </button>
          <button type="button" class="danger" onClick={begin('delete')}>
            Delete…
          </button>
        </>
      )}
      <ExportButton targets={targets} />
    </>
  );
}

/** What is chosen, and what can be done with it. `children` say what it is. */
export function SelectionBar(props: {
  label: string;
  what: string;
  targets: readonly Target[];
  start: (action: Action) => void;
  clear: () => void;
  children: ComponentChildren;
}) {
  const { label, what, targets, start, clear, children } = props;
  return (
    <div class="selection-bar" role="region" aria-label={label}>
      <span>{children}</span>
      <span class="actions">
        <Actions what={what} targets={targets} start={start} />
        <button type="button" class="quiet" onClick={clear}>
          Clear
        </button>
      </span>
    </div>
  );
}

function ExportButton({ targets }: { targets: readonly Target[] }) {
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const parts: Blob[] = [];
      let isCut = false;
      for (const target of targets) {
        const part = await exportLetters(target);
        parts.push(part.lines);
        isCut ||= part.isCut;
      }
      download(new Blob(parts, { type: 'application/x-ndjson' }), fileName(targets));
      if (isCut) toast(cutNote, 'failed');
    } catch (error) {
      toast(`The export failed: ${apiErrorOf(error).message}`, 'failed');
    }
    setBusy(false);
  };
  return (
    <button type="button" disabled={isBusy} onClick={() => void save()} title="One line of JSON for each message">
      {isBusy ? 'Exporting…' : 'Export'}
    </button>
  );
}

const cutNote =
  `The export has the first ${messages(mostExported)} of each queue or group. ` +
  'Narrow the filter, or use dlx-broker dead-letters export, which has no limit.';

/** A name that is safe on every file system. */
function fileName(targets: readonly Target[]): string {
  const queue = targets.length === 1 ? (targets[0]?.queue ?? '') : 'dead-letters';
  return `${queue.replace(/[^\w.-]+/g, '_').slice(0, 80)}.ndjson`;
}

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A checkbox of a row, or of the head. */
export function Check(props: { label: string; checked: boolean; some?: boolean; toggle: () => void }) {
  const { label, checked, some = false, toggle } = props;
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      ref={(element) => {
        if (element !== null) element.indeterminate = some && !checked;
      }}
      onChange={toggle}
    />
  );
}
