import { useRef, useState } from 'preact/hooks';
import type { RedriveGroup, RedriveTask } from '../../api/types';
import { useResource } from '../../api/use-resource';
import { loadRedrive } from '../../letters/api';
import { lettersHref } from '../../letters/links';
import { Progress } from '../../letters/progress';
import { isOpen, subjectOf } from '../../letters/words';
import { QueuesOf } from '../../letters/outcome';
import { href } from '../../router';
import { count, dateTime } from '../../ui/format';
import { Age, Card, Name, PageHead, visible } from '../../ui/parts';
import { Failure, Loading, Notice } from '../../ui/states';
import { type Column, Table } from '../../ui/table';

/** The pause between two looks, in milliseconds. */
const interval = 1_000;

/** The beginning of the tasks of edited messages. An edit is over with its answer, so it is no redrive in the list. */
const editPrefix = 'edit-';

/** One redrive: its progress, its result, and what was asked for. */
export const RedriveView = ({ id }: { id: string }) =>
  id.startsWith(editPrefix) ? <EditView id={id} /> : <LiveView id={id} />;

function EditView({ id }: { id: string }) {
  return (
    <>
      <Path id={id} />
      <Notice title="This is the edit of one message">
        <p>
          The message with this name in its header <code>dlx-redriven-task</code> was edited and sent back in one step.
          The audit log has who did it, where it went, and the checksums of both bodies.
        </p>
        <p>
          <a href={href(['audit'], { action: 'message edit' })}>Edits in the audit log</a>
        </p>
      </Notice>
    </>
  );
}

const Path = ({ id }: { id: string }) => (
  <nav class="crumbs" aria-label="Path">
    <a href={href(['redrives'])}>Redrives</a> <span aria-hidden="true">/</span> <span>{visible(id)}</span>
  </nav>
);

function LiveView({ id }: { id: string }) {
  const [isLive, setLive] = useState(true);
  /** When there is nothing new to see, in the time of this page. */
  const ended = useRef<number>(undefined);
  const answer = useResource(
    id,
    async (signal) => {
      const task = await loadRedrive(id, signal);
      // The watch ends a while after the redrive by the clock of the server, which may differ from that of the browser.
      if (isOpen(task)) ended.current = undefined;
      else ended.current ??= performance.now() + Math.max(0, (task.watched_until ?? 0) - (task.ended_at ?? 0));
      setLive(ended.current === undefined || performance.now() < ended.current);
      return task;
    },
    isLive ? interval : undefined,
  );
  const { data: task, error } = answer;
  return (
    <>
      <Path id={id} />
      {task === undefined && error === undefined && <Loading lines={6} />}
      {task === undefined && error?.status === 404 && (
        <Notice title="This redrive is not known any more">
          <p>The broker keeps the last hundred redrives until it stops. The audit log has what it moved.</p>
          <p>
            <a href={href(['audit'], { action: 'redrive' })}>Redrives in the audit log</a>
          </p>
        </Notice>
      )}
      {task === undefined && error !== undefined && error.status !== 404 && (
        <Failure error={error} retry={answer.reload} what="this redrive" />
      )}
      {task !== undefined && <Known task={task} changed={answer.reload} />}
    </>
  );
}

function Known({ task, changed }: { task: RedriveTask; changed: () => void }) {
  return (
    <>
      <PageHead
        title={<QueuesOf task={task} />}
        sub={
          <>
            {task.keep_history ? 'Parked' : 'Redriven'} by <Name of={task.by} />, <Age of={task.started_at} />
          </>
        }
      >
        {task.vhost !== null && task.queue !== null && (
          <a class="button" href={lettersHref(task.vhost, task.queue)}>
            Messages of the queue
          </a>
        )}
      </PageHead>
      <div class="grid">
        <Card title="Progress">
          <div class="card-body">
            <Progress task={task} changed={changed} />
          </div>
        </Card>
        <Card title="What was asked for">
          <dl class="properties card-body">
            <Row name="messages">{visible(subjectOf(task))}</Row>
            {task.vhost !== null && task.queue !== null && (
              <Row name="from">
                <a href={href(['queues', task.vhost, task.queue])}>
                  <Name of={task.queue} />
                </a>{' '}
                <span class="muted">in</span> <Name of={task.vhost} />
              </Row>
            )}
            <Row name="to">
              {task.to === null ? (
                'the recorded origin of each'
              ) : (
                <>
                  <Name of={task.to.exchange} /> → <Name of={task.to.routing_key} empty="(no key)" />
                </>
              )}
            </Row>
            <Row name="rate">{task.rate === 0 ? 'as many as possible' : `${count(task.rate)} a second`}</Row>
            <Row name="limit">{task.limit === null ? 'none' : `${count(task.limit)} messages`}</Row>
            <Row name="circuit">
              {task.circuit === null
                ? 'off'
                : `stops when more than ${task.circuit.percent} % of at least ${count(task.circuit.at_least)} come back`}
            </Row>
            <Row name="history">{task.keep_history ? 'kept' : 'removed: a new start'}</Row>
            <Row name="ready then">{count(task.ready_at_start)}</Row>
            <Row name="started">{dateTime(task.started_at)}</Row>
            {task.ended_at !== null && <Row name="ended">{dateTime(task.ended_at)}</Row>}
          </dl>
        </Card>
      </div>
      {task.groups !== undefined && (
        <Card title="Groups">
          <Table
            label="Groups"
            rows={task.groups.map((group, index) => ({ ...group, index }))}
            keyOf={({ index }) => String(index)}
            columns={groupColumns}
          />
        </Card>
      )}
    </>
  );
}

function Row({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Each group with its counts. */
const groupColumns: readonly Column<RedriveGroup & { readonly index: number }>[] = [
  {
    title: 'Messages',
    cell: ({ vhost, queue, filter, ids }) => (
      <span class="stacked">
        <a href={lettersHref(vhost, queue)}>
          <Name of={queue} />
        </a>
        <small>{visible(subjectOf({ filter, ids }))}</small>
      </span>
    ),
  },
  { title: 'Moved', numeric: true, cell: ({ moved }) => <b>{count(moved)}</b> },
  { title: 'Left', numeric: true, cell: ({ left }) => count(left) },
  { title: 'Gone', numeric: true, minor: true, cell: ({ gone }) => count(gone) },
  { title: 'Examined', numeric: true, minor: true, cell: ({ scanned }) => count(scanned) },
];
