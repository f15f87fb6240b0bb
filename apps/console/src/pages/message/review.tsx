import { useState } from 'preact/hooks';
import { apiErrorOf, type ApiError } from '../../api/http';
import type { Letter } from '../../api/types';
import { useResource } from '../../api/use-resource';
import { pauseOfTyping } from '../../api/wait';
import { type Edit, editLetter, type EditOutcome, type QueueName } from '../../letters/api';
import { BodyDiff, readable } from '../../letters/body-diff';
import { DestinationForm, destinationOf, toOrigin } from '../../letters/destination';
import { KeepOriginal } from '../../letters/keep-original';
import { whyLeft } from '../../letters/words';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Name, visible } from '../../ui/parts';
import { ProblemBanner } from '../../ui/states';
import { headerChanges } from './draft';
import { textOfField } from './fields';

/** Shows what an edit changes and where the new message would go, and sends it. */
export function Review(props: {
  of: Letter;
  name: QueueName;
  edit: Edit;
  close: () => void;
  sent: (outcome: EditOutcome) => void;
}) {
  const { of, name, edit, close, sent } = props;
  const [choice, choose] = useState(toOrigin);
  const [keeps, setKeeps] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const to = destinationOf(choice);
  const whole: Edit = { ...edit, ...(to && { to }), ...(keeps && { keep_original: true }) };
  const message = { ...name, id: of.id };
  const asked = useResource(JSON.stringify([message, to, keeps]), async (signal) => {
    if (to === undefined) return undefined;
    // The request has the whole body, and becomes a record of the audit log.
    await pauseOfTyping(signal);
    return editLetter(message, { ...whole, dry_run: true }, signal);
  });
  const outcome = asked.data;
  const isPossible = outcome !== undefined && outcome.why === undefined;
  const send = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const done = await editLetter(message, whole);
      if (done.moved) return sent(done);
      setProblem(`The message stays: ${whyLeft(done.why ?? 'unknown')}.`);
    } catch (error) {
      setProblem(apiErrorOf(error).message);
    }
    setBusy(false);
  };
  return (
    <Dialog title="Review and redrive" close={close} wide>
      <div class="action">
        <BodyChange before={of} after={edit.payload} />
        <HeaderChanges edit={edit} of={of} />
        <PropertyChanges edit={edit} of={of} />
        <DestinationForm vhost={name.vhost} value={choice} change={choose} isOne />
        <KeepOriginal queue={name.queue} value={keeps} change={setKeeps} />
        <Outcome of={outcome} error={asked.error} isComplete={to !== undefined} />
        <ProblemBanner text={problem} />
        <p class="muted">
          The new message is published first. The original is removed once the new one is confirmed, and both are in the
          audit log.
        </p>
        <DialogActions close={close} back="Back">
          <button type="button" class="primary" disabled={!isPossible || isBusy} onClick={() => void send()}>
            {isBusy ? 'Sending…' : 'Send and remove the original'}
          </button>
        </DialogActions>
      </div>
    </Dialog>
  );
}

function Outcome(props: { of: EditOutcome | undefined; error: ApiError | undefined; isComplete: boolean }) {
  const { of, error, isComplete } = props;
  if (error !== undefined) return <p class="banner banner-failed">{error.message}</p>;
  if (of === undefined) {
    return <p class="foreseen muted">{isComplete ? 'Asking the broker…' : 'Choose where the message goes.'}</p>;
  }
  if (of.why !== undefined) {
    return <p class="banner">It cannot be sent: {whyLeft(of.why)}. The original stays.</p>;
  }
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

function BodyChange({ before, after }: { before: Letter; after: string | undefined }) {
  if (after === undefined || before.payload === null) return <p class="muted">The body stays as it is.</p>;
  const [old, now] = [before.payload, after].map(readable) as [string, string];
  if (old === now) return <p class="muted">Only spaces of the body change.</p>;
  return (
    <section aria-label="Changes of the body">
      <h3>Body</h3>
      <BodyDiff before={old} after={now} />
    </section>
  );
}

function HeaderChanges({ edit, of }: { edit: Edit; of: Letter }) {
  const changes = headerChanges(edit, of);
  if (changes.length === 0) return <p class="muted">The headers of the publisher stay as they are.</p>;
  return (
    <section aria-label="Changes of the headers">
      <h3>Headers</h3>
      <pre class="code diff" tabIndex={0}>
        {changes.map(({ name, before, after }) => (
          <span key={name}>
            {before !== undefined && (
              <span class="diff-removed">{`- ${visible(name)} (${before.type}): ${visible(textOfField(before))}\n`}</span>
            )}
            {after !== undefined && (
              <span class="diff-added">{`+ ${visible(name)} (${after.type}): ${visible(textOfField(after))}\n`}</span>
            )}
          </span>
        ))}
      </pre>
    </section>
  );
}

function PropertyChanges({ edit: { properties }, of }: { edit: Edit; of: Letter }) {
  if (properties === undefined) return <p class="muted">The properties stay as they are.</p>;
  return (
    <section aria-label="Changes of the properties">
      <h3>Properties</h3>
      <pre class="code diff" tabIndex={0}>
        {Object.entries(properties).map(([name, after]) => {
          const before = of.properties[name];
          return (
            <span key={name}>
              {before !== undefined && before !== null && (
                <span class="diff-removed">{`- ${name}: ${visible(String(before))}\n`}</span>
              )}
              {after !== null && <span class="diff-added">{`+ ${name}: ${visible(String(after))}\n`}</span>}
            </span>
          );
        })}
      </pre>
    </section>
  );
}
