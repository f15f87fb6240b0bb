import { count } from '../ui/format';
import { Failure } from '../ui/states';
import { Destinations, LeftBehind, MayRefuse } from './outcome';
import { type Plan, planDelete, type Planned, planRedrive, usePlan } from './plan';
import { useState } from 'preact/hooks';
import { apiErrorOf } from '../api/http';
import { Dialog, DialogActions } from '../ui/dialog';
import { visible } from '../ui/parts';
import { toast } from '../ui/toasts';
import { deleteLetters, type RedriveOptions, type Target } from './api';
import { DestinationForm, destinationOf, toOrigin, toQueue } from './destination';
import { isEmptyFilter } from './filter';
import { RunView } from './run-view';
import { defaultPace, type Pace, PaceForm, paceOf } from './pace-form';
import { messages } from './words';

/** The answer of the dry run: the exact count, the destinations, and what would stay. */
export function Foreseen(props: { planned: Planned; verb: string }) {
  const { planned, verb } = props;
  const { plan, error, loading } = planned;
  if (error !== undefined) return <Failure error={error} what="what this would do" />;
  if (plan === undefined) {
    return (
      <div class="foreseen" role="status">
        <span class="muted">{loading ? 'Asking the broker what this would do…' : 'Choose where the messages go.'}</span>
      </div>
    );
  }
  return (
    <div class="foreseen" role="status">
      <p class="foreseen-count">
        <b>{count(plan.count)}</b> {verb}
        {plan.left > 0 && <span class="stay">, {count(plan.left)} would stay</span>}
        {plan.gone > 0 && <span class="muted">, {count(plan.gone)} left meanwhile</span>}
      </p>
      <Destinations of={plan.destinations} others={plan.otherDestinations} />
      <LeftBehind of={plan.leftAt} />
      <MayRefuse of={plan.mayRefuse} />
    </div>
  );
}

export type ActionKind = 'redrive' | 'park' | 'delete';

/** An action on messages. `what` names them in words: `3 chosen messages`. */
export interface Action {
  readonly kind: ActionKind;
  readonly what: string;
  readonly targets: readonly Target[];
}

const titles: Readonly<Record<ActionKind, string>> = {
  redrive: 'Redrive',
  park: 'Park',
  delete: 'Delete',
};

/**
 * Shows by a dry run what an action would do, lets the user confirm it, and shows its progress.
 * @param done called when messages may have left their queue
 */
export function ActionDialog(props: { action: Action; close: () => void; done: () => void }) {
  const { action, close, done } = props;
  const [run, setRun] = useState<{ plan: Plan; options: RedriveOptions }>();
  const leave = (): void => {
    if (run !== undefined) done();
    close();
  };
  return (
    <Dialog title={titles[action.kind]} close={leave}>
      {run !== undefined ? (
        <RunView targets={action.targets} plan={run.plan} options={run.options} close={leave} />
      ) : action.kind === 'delete' ? (
        <Deletion action={action} close={close} done={done} />
      ) : (
        <Move action={action} close={close} start={(plan, options) => setRun({ plan, options })} />
      )}
    </Dialog>
  );
}

/** The form of a redrive, or of a move to a parking queue. */
function Move(props: { action: Action; close: () => void; start: (plan: Plan, options: RedriveOptions) => void }) {
  const { action, close, start } = props;
  const [first] = action.targets;
  const isPark = action.kind === 'park';
  const [choice, choose] = useState(isPark ? toQueue : toOrigin);
  const [pace, setPace] = useState<Pace>(defaultPace);
  const to = destinationOf(choice);
  const move: RedriveOptions = { ...(to && { to }), ...(isPark && { keep_history: true }) };
  const options = { ...move, ...paceOf(pace) };
  // The limit changes the count, so the server is asked again; rate and circuit do not.
  const asked = { ...move, ...(options.limit !== undefined && { limit: options.limit }) };
  const planned = usePlan(to === undefined ? undefined : JSON.stringify(asked), (signal) =>
    planRedrive(action.targets, asked, signal),
  );
  const { plan } = planned;
  const verb = titles[action.kind];
  return (
    <form
      class="action"
      onSubmit={(event) => {
        event.preventDefault();
        if (plan !== undefined && plan.count > 0) start(plan, options);
      }}
    >
      <p>
        <Subject action={action} />{' '}
        <span class="muted">
          {isPark
            ? 'They keep their deaths and errors, and wait in a queue of your choice.'
            : 'They are published again as new messages: deaths, attempts and errors are removed.'}
        </span>
      </p>
      <DestinationForm vhost={first?.vhost ?? '/'} value={choice} change={choose} hasOrigin={!isPark} />
      <Foreseen planned={planned} verb={isPark ? 'would be moved' : 'would be redriven'} />
      {plan !== undefined && plan.withoutOrigin > 0 && choice.kind === 'origin' && (
        <p class="banner">
          {messages(plan.withoutOrigin)} without a proven origin would stay. Choose a queue or an exchange to send them,
          too.
        </p>
      )}
      <PaceForm value={pace} change={setPace} />
      <DialogActions close={close}>
        <button type="submit" class="primary" disabled={plan === undefined || plan.count === 0}>
          {plan === undefined ? verb : `${verb} ${messages(plan.count)}`}
        </button>
      </DialogActions>
    </form>
  );
}

/** From this number of messages on, the user types the number before they are deleted. */
const many = 100;

function Deletion({ action, close, done }: { action: Action; close: () => void; done: () => void }) {
  const [typed, setTyped] = useState('');
  const [isBusy, setBusy] = useState(false);
  const planned = usePlan('delete', (signal) => planDelete(action.targets, signal));
  const found = planned.plan?.count ?? 0;
  const isPurge = action.targets.some(({ ids, filter = {} }) => ids === undefined && isEmptyFilter(filter));
  const wanted = isPurge ? (action.targets[0]?.queue ?? '') : String(found);
  // Characters that a keyboard cannot type are shown as escapes, and can be typed as such.
  const isTyped = typed === wanted || typed === visible(wanted);
  const isConfirmed = found > 0 && ((!isPurge && found < many) || isTyped);
  const remove = async (): Promise<void> => {
    setBusy(true);
    let deleted = 0;
    try {
      // Messages that died after the dry run stay: the user has seen the number without them.
      for (const [index, target] of action.targets.entries()) {
        const limit = planned.plan?.counts[index] ?? 0;
        if (limit > 0) deleted += await deleteLetters(target, { dryRun: false, limit });
      }
      toast(`Deleted ${messages(deleted)}.`);
      close();
    } catch (error) {
      toast(apiErrorOf(error).message, 'failed');
      setBusy(false);
    }
    if (deleted > 0) done();
  };
  return (
    <form
      class="action"
      onSubmit={(event) => {
        event.preventDefault();
        if (isConfirmed) void remove();
      }}
    >
      <p>
        <Subject action={action} />{' '}
        <span class="muted">Deleted messages are gone: they are not dead-lettered again.</span>
      </p>
      <Foreseen planned={planned} verb="would be deleted" />
      {found > 0 && (isPurge || found >= many) && (
        <label class="field">
          <span>
            Type <code>{visible(wanted)}</code> to confirm
          </span>
          <input
            value={typed}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
      )}
      <DialogActions close={close}>
        <button type="submit" class="danger" disabled={!isConfirmed || isBusy}>
          {found === 0 ? 'Delete' : `Delete ${messages(found)}`}
        </button>
      </DialogActions>
    </form>
  );
}

function Subject({ action }: { action: Action }) {
  return <b>{action.what}.</b>;
}
