import { useState } from 'preact/hooks';
import type { Letter } from '../../api/types';
import { useAction, useResource } from '../../api/use-resource';
import { pauseOfTyping } from '../../api/wait';
import { type Edit, editLetter, type EditOutcome, type QueueName } from '../../letters/api';
import { DestinationForm, destinationOf, toOrigin } from '../../letters/destination';
import { whyLeft } from '../../letters/words';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Card, Name, visible } from '../../ui/parts';
import { ProblemBanner } from '../../ui/states';
import { type Draft, type DraftHeader, draftOf, editOf, isJsonBody, kindOf, problemsOf } from './draft';
import { formatJson, parseJson } from './json';

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
  const isValid = problems.body === undefined && problems.headers.size === 0;
  const edit = isValid ? editOf(draft, of) : {};
  const isChanged = Object.keys(edit).length > 0;
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) setReviewing(true);
      }}
    >
      <BodyEditor of={of} body={draft.body} problem={problems.body} change={(body) => setDraft({ ...draft, body })} />
      <Card title="Headers">
        <HeaderEditor
          of={draft.headers}
          problems={problems.headers}
          change={(headers) => setDraft({ ...draft, headers })}
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
          <button type="submit" class="primary" disabled={!isChanged}>
            Review…
          </button>
        </span>
      </div>
      {isReviewing && <Review of={of} name={name} edit={edit} close={() => setReviewing(false)} sent={sent} />}
    </form>
  );
}

function BodyEditor(props: {
  of: Letter;
  body: string | undefined;
  problem: string | undefined;
  change: (body: string) => void;
}) {
  const { of, body, problem, change } = props;
  if (body === undefined) {
    return (
      <Card title="Body">
        <p class="card-body muted">The body is not text. It stays as it is.</p>
      </Card>
    );
  }
  const format = (): void => {
    const node = parseJson(body);
    if (node !== undefined) change(formatJson(node));
  };
  return (
    <Card
      title="Body"
      actions={
        isJsonBody(of) && (
          <span class="actions">
            <small class={problem === undefined ? 'valid' : 'invalid'}>
              {problem === undefined ? 'valid JSON' : 'not JSON'}
            </small>
            <button type="button" class="quiet" onClick={format}>
              Format
            </button>
          </span>
        )
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
          onInput={(event) => change(event.currentTarget.value)}
        />
        {problem !== undefined && (
          <p class="banner banner-failed">The body was JSON, and this is not: {visible(problem)}</p>
        )}
      </div>
    </Card>
  );
}

/** The headers of the publisher. The type of a header stays text, a number or a boolean; other types can only be removed. */
function HeaderEditor(props: {
  of: readonly DraftHeader[];
  problems: ReadonlyMap<number, string>;
  change: (headers: readonly DraftHeader[]) => void;
}) {
  const { of, problems, change } = props;
  const set = (key: number, part: Partial<DraftHeader>): void =>
    change(of.map((each) => (each.key === key ? { ...each, ...part } : each)));
  const add = (): void =>
    change([...of, { key: Math.max(-1, ...of.map(({ key }) => key)) + 1, name: '', text: '', before: undefined }]);
  return (
    <div class="card-body header-editor">
      {of.length === 0 && <p class="muted">No headers of the publisher.</p>}
      {of.map((row) => (
        <div key={row.key} class="header-row" role="group" aria-label={`Header ${visible(row.name)}`}>
          <input
            aria-label="Name"
            placeholder="name"
            value={row.name}
            readOnly={row.before !== undefined}
            spellcheck={false}
            onInput={(event) => set(row.key, { name: event.currentTarget.value })}
          />
          <textarea
            aria-label="Value"
            aria-invalid={problems.has(row.key)}
            rows={Math.min(6, row.text.split('\n', 8).length)}
            value={row.text}
            disabled={kindOf(row) === undefined}
            title={row.before?.type}
            spellcheck={false}
            onInput={(event) => set(row.key, { text: event.currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove the header ${visible(row.name)}`}
            onClick={() => change(of.filter(({ key }) => key !== row.key))}
          >
            ✕
          </button>
          {problems.has(row.key) && <small class="invalid">{problems.get(row.key)}</small>}
        </div>
      ))}
      <div class="header-foot">
        <button type="button" onClick={add}>
          Add a header
        </button>
        <small>Headers of deaths, retries and errors are removed by the redrive.</small>
      </div>
    </div>
  );
}

/** Asks where the new message goes, and sends it. */
function Review(props: {
  of: Letter;
  name: QueueName;
  edit: Edit;
  close: () => void;
  sent: (outcome: EditOutcome) => void;
}) {
  const { of, name, edit, close, sent } = props;
  const [choice, choose] = useState(toOrigin);
  const { isBusy, problem, setProblem, run } = useAction();
  const to = destinationOf(choice);
  const whole: Edit = { ...edit, ...(to && { to }) };
  const message = { ...name, id: of.id };
  const { data: outcome, error } = useResource(JSON.stringify([message, to]), async (signal) => {
    if (to === undefined) return undefined;
    // The request has the whole body.
    await pauseOfTyping(signal);
    return editLetter(message, { ...whole, dry_run: true }, signal);
  });
  const send = async (): Promise<void> => {
    let done: EditOutcome | undefined;
    await run(async () => void (done = await editLetter(message, whole)));
    if (done?.moved) sent(done);
    else if (done !== undefined) setProblem(`The message stays: ${whyLeft(done.why ?? 'unknown')}.`);
  };
  return (
    <Dialog title="Review and redrive" close={close}>
      <div class="action">
        <DestinationForm vhost={name.vhost} value={choice} change={choose} isOne />
        {error !== undefined ? (
          <p class="banner banner-failed">{error.message}</p>
        ) : outcome === undefined ? (
          <p class="foreseen muted">{to === undefined ? 'Choose where the message goes.' : 'Asking the broker…'}</p>
        ) : outcome.why !== undefined ? (
          <p class="banner">It cannot be sent: {whyLeft(outcome.why)}. The original stays.</p>
        ) : (
          <Way of={outcome} />
        )}
        <ProblemBanner text={problem} />
        <p class="muted">
          The new message is published first. The original is removed once the new one is confirmed, and both are in the
          audit log.
        </p>
        <DialogActions close={close} back="Back">
          <button
            type="button"
            class="primary"
            disabled={outcome === undefined || outcome.why !== undefined || isBusy}
            onClick={() => void send()}
          >
            {isBusy ? 'Sending…' : 'Send and remove the original'}
          </button>
        </DialogActions>
      </div>
    </Dialog>
  );
}

function Way({ of }: { of: EditOutcome }) {
  return (
    <p class="foreseen">
      <span>
        It would go by <Name of={of.exchange ?? ''} /> → <Name of={of.routing_key ?? ''} empty="(no key)" /> to{' '}
        {of.destinations.map((queue, index) => (
          <span key={queue}>
            {index > 0 && ', '}
            <b>
              <Name of={queue} />
            </b>
          </span>
        ))}
      </span>
    </p>
  );
}
