import { useMemo, useState } from 'preact/hooks';
import type { Letter } from '../../api/types';
import { setQuery } from '../../router';
import { bytes as size } from '../../ui/format';
import { Card } from '../../ui/parts';
import { toast } from '../../ui/toasts';
import { bytesOfBase64, hexRows } from './hex';
import { type JsonNode, parseJson } from './json';
import { JsonTree } from './json-tree';

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

type View = 'json' | 'text' | 'hex';

/** The characters of a text, and the lines of a hex view, that are shown at a time. */
const shownText = 100_000;
const shownLines = 512;

/** The body of a message: as a tree if it is JSON, as text, and as bytes. */
export function Body({ of, view, loadAll }: { of: Letter; view: string | null; loadAll: () => void }) {
  const { payload, payload_encoding, payload_bytes, payload_truncated } = of;
  const json = useMemo(
    () =>
      payload === null || payload_encoding === 'base64' || payload_truncated || !/^\s*["[{]/.test(payload)
        ? undefined
        : parseJson(payload),
    [payload],
  );
  const isText = payload_encoding === 'string';
  const views: (readonly [View, string])[] = [
    ...(json === undefined ? [] : [['json', 'JSON'] as const]),
    ...(isText ? [['text', 'Text'] as const] : []),
    ['hex', 'Hex'],
  ];
  const present = views.find(([each]) => each === view)?.[0] ?? views[0]?.[0] ?? 'hex';
  return (
    <Card
      id="body"
      title={
        <>
          Body <small>{size(payload_bytes)}</small>
        </>
      }
      actions={
        payload !== null && (
          <span class="actions">
            <Tabs label="Views of the body" all={views} value={present} choose={(tab) => setQuery({ view: tab })} />
            {isText && <Copy text={payload} />}
          </span>
        )
      }
    >
      {payload === null ? (
        <p class="card-body">
          The body cannot be read from disk{of.payload_error?.kind === 'lost' ? ', and is lost' : ' now'}:{' '}
          {of.payload_error?.reason ?? 'the reason is unknown'}
        </p>
      ) : (
        <div class="card-body" role="tabpanel" aria-label={present}>
          {payload_bytes === 0 ? <p class="muted">The body is empty.</p> : <Shown of={of} view={present} json={json} />}
          {payload_truncated && (
            <p class="muted more">
              Only the beginning is shown.{' '}
              <button type="button" class="link" onClick={loadAll}>
                Load all {size(payload_bytes)}
              </button>
            </p>
          )}
        </div>
      )}
    </Card>
  );
}

function Shown({ of, view, json }: { of: Letter; view: View; json: JsonNode | undefined }) {
  if (view === 'json' && json !== undefined) return <JsonTree of={json} />;
  return view === 'text' ? <Text of={of.payload ?? ''} /> : <Hex of={of} />;
}

function Text({ of }: { of: string }) {
  const [most, setMost] = useState(shownText);
  return (
    <>
      <pre class="code" tabIndex={0}>
        {of.slice(0, most)}
      </pre>
      {of.length > most && (
        <button type="button" class="link" onClick={() => setMost(most * 2)}>
          Show more
        </button>
      )}
    </>
  );
}

function Hex({ of: { payload, payload_encoding } }: { of: Letter }) {
  const [most, setMost] = useState(shownLines);
  const bytes = useMemo(
    () => (payload_encoding === 'base64' ? bytesOfBase64(payload ?? '') : new TextEncoder().encode(payload ?? '')),
    [payload],
  );
  return (
    <>
      <pre class="code hex" tabIndex={0}>
        {hexRows(bytes, most).map(({ offset, hex, text }) => (
          <span key={offset}>
            <i>{offset}</i> {hex.padEnd(48)} <b>{text}</b>
            {'\n'}
          </span>
        ))}
      </pre>
      {bytes.length > most * 16 && (
        <button type="button" class="link" onClick={() => setMost(most * 4)}>
          Show more
        </button>
      )}
    </>
  );
}

function Copy({ text }: { text: string }) {
  const copy = (): void => {
    // Only pages from this machine or over TLS have a clipboard.
    navigator.clipboard?.writeText(text).then(
      () => toast('Copied.'),
      () => toast('The browser did not allow the copy.', 'failed'),
    );
  };
  return window.isSecureContext ? (
    <button type="button" class="quiet" onClick={copy}>
      Copy
    </button>
  ) : null;
}
