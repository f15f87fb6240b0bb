import { useState } from 'preact/hooks';
import type { Letter } from '../../api/types';
import type { EditOutcome, QueueName } from '../../letters/api';
import { Card } from '../../ui/parts';
import { type Draft, draftOf, editOf, isJsonBody, isSendable, problemsOf } from './draft';
import { HeaderEditor } from './header-editor';
import { formatJson, parseJson } from './json';
import { PropertiesEditor } from './properties-editor';
import { Review } from './review';

/** The editor of a message, in place of its body and headers. `sent` is called when the new message is confirmed. */
export function Editor(props: {
  of: Letter;
  name: QueueName;
  cancel: () => void;
  sent: (outcome: EditOutcome) => void;
}) {
  const { of, name, cancel, sent } = props;
  const [draft, setDraft] = useState<Draft>(() => draftOf(of));
  const [isReviewing, setReviewing] = useState(false);
  const problems = problemsOf(draft, of);
  const isValid = isSendable(problems);
  const edit = isValid ? editOf(draft, of) : undefined;
  const isChanged = edit !== undefined && (edit.payload ?? edit.headers ?? edit.properties) !== undefined;
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) setReviewing(true);
      }}
    >
      <BodyEditor of={of} draft={draft} change={setDraft} problem={problems.body} />
      <Card title="Headers">
        <HeaderEditor
          of={draft.headers}
          problems={problems.headers}
          change={(headers) => setDraft({ ...draft, headers })}
        />
      </Card>
      <Card title="Properties">
        <PropertiesEditor
          of={draft.properties}
          problems={problems.properties}
          change={(properties) => setDraft({ ...draft, properties })}
        />
      </Card>
      <div class="selection-bar">
        <span>
          {!isValid
            ? 'Something cannot be sent yet'
            : isChanged
              ? 'The original stays until the new message is confirmed'
              : 'Nothing is changed yet'}
        </span>
        <span class="actions">
          <button type="button" onClick={cancel}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!isValid}>
            Review…
          </button>
        </span>
      </div>
      {isReviewing && edit !== undefined && (
        <Review of={of} name={name} edit={edit} close={() => setReviewing(false)} sent={sent} />
      )}
    </form>
  );
}

function BodyEditor(props: { of: Letter; draft: Draft; change: (draft: Draft) => void; problem: string | undefined }) {
  const { of, draft, change, problem } = props;
  const { body } = draft;
  const isJson = isJsonBody(of);
  const format = (): void => {
    const node = parseJson(body ?? '');
    if (node !== undefined) change({ ...draft, body: formatJson(node) });
  };
  if (body === undefined) {
    return (
      <Card title="Body">
        <p class="card-body muted">
          {of.payload_truncated
            ? 'The body is too long to edit here. It stays as it is.'
            : 'The body is not text. It stays as it is.'}
        </p>
      </Card>
    );
  }
  return (
    <Card
      title="Body"
      actions={
        <span class="actions">
          {isJson && <JsonState problem={problem} isAllowed={draft.allowsInvalid} />}
          {isJson && (
            <button type="button" class="quiet" onClick={format}>
              Format
            </button>
          )}
        </span>
      }
    >
      <div class="card-body">
        <textarea
          class="body-editor"
          aria-label="Body"
          aria-invalid={problem !== undefined}
          spellcheck={false}
          rows={Math.min(32, Math.max(8, body.split('\n', 40).length + 1))}
          value={body}
          onInput={(event) => change({ ...draft, body: event.currentTarget.value })}
        />
        {problem !== undefined && (
          <p class="banner banner-failed">
            The body was JSON, and this is not: {problem}{' '}
            <button type="button" class="link" onClick={() => change({ ...draft, allowsInvalid: true })}>
              Send it all the same
            </button>
          </p>
        )}
      </div>
    </Card>
  );
}

function JsonState({ problem, isAllowed }: { problem: string | undefined; isAllowed: boolean }) {
  if (isAllowed) return <small>need not be JSON</small>;
  return problem === undefined ? <small class="valid">valid JSON</small> : <small class="invalid">not JSON</small>;
}
