import { useState } from 'preact/hooks';
import type { EditPair } from '../api/types';
import { DialogActions } from '../ui/dialog';
import { visible } from '../ui/parts';
import type { Action } from './action-dialog';
import type { RedriveOptions } from './api';
import { BodyDiff, readable } from './body-diff';
import { DestinationForm, destinationOf, toOrigin } from './destination';
import { Foreseen } from './foreseen';
import { KeepOriginal } from './keep-original';
import { defaultPace, type Pace, PaceForm, paceOf } from './pace-form';
import { type Plan, planRedrive, usePlan } from './plan';
import { messages } from './words';

/** The form of a redrive that changes the bodies of its messages. */
export function PatchForm(props: {
  action: Action;
  close: () => void;
  start: (plan: Plan, options: RedriveOptions) => void;
}) {
  const { action, close, start } = props;
  const { targets } = action;
  const queues = new Set(targets.map(({ queue }) => queue));
  const [text, setText] = useState('');
  const [keeps, setKeeps] = useState(false);
  const [choice, choose] = useState(toOrigin);
  const [pace, setPace] = useState<Pace>(defaultPace);
  const { patch, problem } = patchIn(text);
  const to = destinationOf(choice);
  const edit = patch === undefined ? undefined : { merge_patch: patch, ...(keeps && { keep_original: true }) };
  const { limit, ...rest } = paceOf(pace);
  const asked: RedriveOptions = { ...(to && { to }), ...(edit && { edit }), ...(limit !== undefined && { limit }) };
  const isComplete = edit !== undefined && (choice.kind === 'origin' || to !== undefined);
  const planned = usePlan(isComplete ? JSON.stringify(asked) : undefined, (signal) =>
    planRedrive(targets, asked, signal),
  );
  const { plan } = planned;
  return (
    <form
      class="action"
      onSubmit={(event) => {
        event.preventDefault();
        if (plan !== undefined && plan.count > 0) start(plan, { ...rest, ...asked });
      }}
    >
      <p>
        <b>{action.what}.</b>{' '}
        <span class="muted">
          Their bodies are changed, and they are published again as new messages. What the patch does not name stays as
          it is.
        </span>
      </p>
      <label class="field">
        <span>JSON merge patch (null removes a name)</span>
        <textarea
          class="patch"
          autofocus
          rows={5}
          spellcheck={false}
          placeholder={'{ "currency": "EUR" }'}
          aria-invalid={problem !== undefined}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {problem !== undefined && <p class="banner banner-failed">{problem}</p>}
      <DestinationForm vhost={targets[0]?.vhost ?? '/'} value={choice} change={choose} hasOrigin />
      <KeepOriginal queue={queues.size === 1 ? targets[0]?.queue : undefined} value={keeps} change={setKeeps} />
      <Foreseen planned={planned} verb="would be changed and redriven" incomplete="Write what changes." />
      {plan?.pairs !== undefined && plan.pairs.length > 0 && <Pairs of={plan.pairs} count={plan.count} />}
      <PaceForm value={pace} change={setPace} />
      <DialogActions close={close}>
        <button type="submit" class="primary" disabled={plan === undefined || plan.count === 0}>
          {plan === undefined ? 'Change and redrive' : `Change and redrive ${messages(plan.count)}`}
        </button>
      </DialogActions>
    </form>
  );
}

/** The patch in a string. Nothing is wrong with an empty text, which is no patch yet. */
function patchIn(text: string): { readonly patch?: object; readonly problem?: string } {
  if (text.trim() === '') return {};
  try {
    const patch: unknown = JSON.parse(text);
    if (typeof patch === 'object' && patch !== null && !Array.isArray(patch)) return { patch };
    return { problem: 'A patch is an object.' };
  } catch (error) {
    return { problem: `This is no JSON: ${visible((error as Error).message)}` };
  }
}

/** The first messages before and after the edit. */
function Pairs({ of, count }: { of: readonly EditPair[]; count: number }) {
  return (
    <section aria-label="Messages before and after" class="pairs" tabIndex={0}>
      <h3>{of.length < count ? `The first ${of.length} of ${messages(count)}` : 'Changes'}</h3>
      {of.map(({ id, before, after }) => (
        <div key={id}>
          <small class="muted">
            Message {visible(id)}
            {(before.payload_truncated || after.payload_truncated) && ', the beginning of its body'}
          </small>
          <BodyDiff before={readable(before.payload ?? '')} after={readable(after.payload ?? '')} />
        </div>
      ))}
    </section>
  );
}
