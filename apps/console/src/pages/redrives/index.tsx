import { useState } from 'preact/hooks';
import type { RedriveTask } from '../../api/types';
import { useResource } from '../../api/use-resource';
import { loadRedrives } from '../../letters/api';
import { Controls, mayControl, State } from '../../letters/progress';
import { doneShare, isOpen, subjectOf } from '../../letters/words';
import { QueuesOf } from '../../letters/outcome';
import { type Address, href } from '../../router';
import { count } from '../../ui/format';
import { Age, Name, PageHead, visible } from '../../ui/parts';
import { Loaded, Notice } from '../../ui/states';
import { type Column, Table } from '../../ui/table';
import { RedriveView } from './redrive-view';
import '../../letters/letters.css';

/** The pauses between two looks while a redrive is open, and otherwise, in milliseconds. */
const pauses = { open: 1_000, idle: 5_000 };

/** Running redrives, and the last hundred. */
export function RedriveList() {
  const [isBusy, setBusy] = useState(true);
  const answer = useResource(
    'redrives',
    async (signal) => {
      const tasks = await loadRedrives(signal);
      setBusy(tasks.some(isOpen));
      return tasks;
    },
    isBusy ? pauses.open : pauses.idle,
  );
  const open = answer.data?.filter(isOpen).length ?? 0;
  return (
    <>
      <PageHead
        title="Redrives"
        sub={
          answer.data === undefined
            ? 'Messages on their way back'
            : `${open === 0 ? 'None is running' : open === 1 ? '1 is not finished' : `${open} are not finished`}. The last hundred are kept until the broker stops.`
        }
      />
      <div class="card">
        <Loaded of={answer} what="redrives">
          {(tasks) =>
            tasks.length === 0 ? (
              <Notice title="No redrive yet">
                <p>
                  Choose messages on the page <a href={href(['dead-letters'])}>Dead letters</a> and send them back to
                  where they came from.
                </p>
              </Notice>
            ) : (
              <Table label="Redrives" rows={tasks} keyOf={({ id }) => id} columns={columns(answer.reload)} />
            )
          }
        </Loaded>
      </div>
    </>
  );
}

const columns = (changed: () => void): readonly Column<RedriveTask>[] => [
  {
    title: 'Redrive',
    cell: (task) => (
      <span class="stacked">
        <a href={href(['redrives', task.id])}>
          <QueuesOf task={task} />
        </a>
        <small>
          {visible(subjectOf(task))}
          {task.to !== null && (
            <>
              {' to '}
              <Name of={task.to.exchange} /> → <Name of={task.to.routing_key} empty="(no key)" />
            </>
          )}
          {task.keep_history && ', parked'}
        </small>
      </span>
    ),
  },
  {
    title: 'Progress',
    cell: (task) => (
      <span class="stacked task-progress">
        <State of={task.state} />
        <span class={`progress progress-${task.state}`}>
          <i style={{ width: `${doneShare(task) * 100}%` }} />
        </span>
        {isOpen(task) && mayControl(task) && <Controls task={task} changed={changed} />}
      </span>
    ),
  },
  { title: 'Moved', numeric: true, cell: (task) => <b>{count(task.moved)}</b> },
  { title: 'Left', numeric: true, tip: 'They stay in the queue', cell: (task) => <Some of={task.left} /> },
  {
    title: 'Came back',
    numeric: true,
    minor: true,
    tip: 'They died again within a minute',
    cell: (task) => <Some of={task.returned} />,
  },
  { title: 'Rate', numeric: true, minor: true, cell: (task) => (task.rate === 0 ? 'full' : `${count(task.rate)}/s`) },
  { title: 'By', minor: true, cell: (task) => <Name of={task.by} /> },
  { title: 'Started', numeric: true, minor: true, cell: (task) => <Age of={task.started_at} /> },
];

/** A number that is quiet when it is 0. */
function Some({ of }: { of: number }) {
  return of === 0 ? <span class="muted">0</span> : <span class="stay">{count(of)}</span>;
}

/** The page `redrives`: all of them, or the one of the address. */
export default function Redrives({ address: { segments } }: { address: Address }) {
  const [, id] = segments;
  return id === undefined ? <RedriveList /> : <RedriveView key={id} id={id} />;
}
