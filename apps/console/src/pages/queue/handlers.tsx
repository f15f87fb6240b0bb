import { useState } from 'preact/hooks';
import { type QueueHandler, loadHandlers, pathOfHandlerPause } from '../../api/queues';
import { request } from '../../api/http';
import { useAction, useResource } from '../../api/use-resource';
import { isReadOnly } from '../../session';
import { ActionForm, Dialog } from '../../ui/dialog';
import { dateTime } from '../../ui/format';
import { Age, Card, Name, visible } from '../../ui/parts';
import { ProblemBanner } from '../../ui/states';
import { Table } from '../../ui/table';
import { toast } from '../../ui/toasts';
import { ReasonField } from './pause';

/** Milliseconds between two loads. */
const every = 5_000;

/** The handlers of a queue in the application of this port. Nothing where the port knows no handlers of the queue. */
export function Handlers({ vhost, name }: { vhost: string; name: string }) {
  const [isAbsent, setAbsent] = useState(false);
  const load = async (signal: AbortSignal): Promise<readonly QueueHandler[]> => {
    const all = await loadHandlers(signal);
    setAbsent(all === undefined);
    return (all ?? []).filter((each) => each.vhost === vhost && each.queue === name);
  };
  const { data, reload } = useResource('handlers', load, isAbsent ? undefined : every);
  const [pausing, setPausing] = useState<QueueHandler>();
  const { isBusy, problem, run } = useAction();
  if (data === undefined || data.length === 0) return null;
  const resume = async ({ handler }: QueueHandler): Promise<void> => {
    await request(pathOfHandlerPause(handler), { method: 'DELETE' });
    toast('The handler gets messages again.');
    reload();
  };
  const button = (of: QueueHandler) =>
    of.state === 'paused' ? (
      <button
        type="button"
        disabled={isBusy}
        aria-label={`Resume ${of.handler}`}
        onClick={() => void run(() => resume(of))}
      >
        Resume
      </button>
    ) : (
      <button type="button" aria-label={`Pause ${of.handler}`} onClick={() => setPausing(of)}>
        Pause
      </button>
    );
  const mayChange = !isReadOnly() && data.some(({ may_pause }) => may_pause);
  return (
    <Card title="Handlers">
      <ProblemBanner text={problem} />
      <Table
        label="Handlers"
        rows={data}
        keyOf={({ handler }) => handler}
        columns={[
          { title: 'Handler', cell: ({ handler }) => <Name of={handler} /> },
          { title: 'State', cell: (row) => <State of={row} /> },
          ...(mayChange ? [{ title: 'Action', cell: (row: QueueHandler) => row.may_pause && button(row) }] : []),
        ]}
      />
      {pausing !== undefined && (
        <PauseHandler
          of={pausing}
          close={() => setPausing(undefined)}
          done={() => {
            setPausing(undefined);
            reload();
          }}
        />
      )}
    </Card>
  );
}

const states: Readonly<Record<QueueHandler['state'], string>> = {
  running: 'running',
  open: 'circuit open',
  probing: 'probing',
  paused: 'paused',
};

function State({ of: { state, circuit, reason, since, next_probe } }: { of: QueueHandler }) {
  const name = states[state] ?? visible(state);
  return (
    <>
      {state === 'running' ? name : <span class="tag tag-warn">{name}</span>}
      {since !== null && (
        <>
          {' '}
          <Age of={since} />
        </>
      )}
      {reason !== null && reason !== '' && (
        <>
          : <bdi>{visible(reason)}</bdi>
        </>
      )}
      {circuit !== null && (
        <>
          <br />
          <small class="muted">
            circuit <bdi>{visible(circuit)}</bdi>
            {next_probe !== null && `, tries again at ${dateTime(next_probe)}`}
          </small>
        </>
      )}
    </>
  );
}

/** Asks for the reason of a pause. */
function PauseHandler({ of, close, done }: { of: QueueHandler; close: () => void; done: () => void }) {
  const [reason, setReason] = useState('');
  const pause = async (): Promise<void> => {
    await request(pathOfHandlerPause(of.handler), { method: 'PUT', body: { ...(reason !== '' && { reason }) } });
    toast('The handler is paused.');
    done();
  };
  return (
    <Dialog title="Pause the handler" close={close}>
      <ActionForm label="Pause" act={pause} close={close}>
        <p>
          <Name of={of.handler} /> gets no messages, nor do other handlers of this queue in its process. Messages wait
          in the queue, or go to other processes. The pause lasts until it is resumed, or until the process ends.
        </p>
        <ReasonField value={reason} onInput={setReason} />
      </ActionForm>
    </Dialog>
  );
}
