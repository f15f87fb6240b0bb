import { useState } from 'preact/hooks';
import { pathOf, request } from '../../api/http';
import type { QueuePause } from '../../api/types';
import { useAction } from '../../api/use-resource';
import { ActionForm, Dialog } from '../../ui/dialog';
import { dateTime } from '../../ui/format';
import { Age, Name, visible } from '../../ui/parts';
import { toast } from '../../ui/toasts';

/** The field for the reason of a pause, in a dialog. */
export function ReasonField({ value, onInput }: { value: string; onInput: (reason: string) => void }) {
  return (
    <label class="field">
      <span>Reason</span>
      <input
        autocomplete="off"
        maxLength={500}
        placeholder="optional; shown to users who may read the queue"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

interface Place {
  readonly vhost: string;
  readonly name: string;
}

const pathOfPause = ({ vhost, name }: Place): string => pathOf('dlx', 'queues', vhost, name, 'pause');

/** Says that a queue is paused: since when, by whom, why and until when. */
export function PauseBanner({
  of,
  vhost,
  name,
  mayChange,
  done,
}: Place & {
  of: QueuePause;
  mayChange: boolean;
  done: () => void;
}) {
  const { reason, by, since, until } = of;
  const { isBusy, problem, run } = useAction();
  const resume = async (): Promise<void> => {
    await request(pathOfPause({ vhost, name }), { method: 'DELETE' });
    toast('The queue delivers again.');
    done();
  };
  return (
    <div class="banner paused" role="status">
      <p>
        <b>Paused</b> <Age of={since} />
        {by !== null && (
          <>
            {' '}
            by <Name of={by} />
          </>
        )}
        {until === null ? '' : <>, until {dateTime(until)}</>}
        {reason !== '' && (
          <>
            : <bdi>{visible(reason)}</bdi>
          </>
        )}
        <br />
        <small>Consumers get nothing. The queue takes messages, and what waits may expire.</small>
      </p>
      {mayChange && (
        <button type="button" disabled={isBusy} onClick={() => void run(resume)}>
          Resume
        </button>
      )}
      {problem !== undefined && <p role="alert">{problem}</p>}
    </div>
  );
}

const times = [
  ['', 'until it is resumed'],
  ['15m', 'for 15 minutes'],
  ['1h', 'for an hour'],
  ['8h', 'for 8 hours'],
  ['1d', 'for a day'],
] as const;

/** Asks for the reason and the time of a pause. */
export function PauseDialog({ vhost, name, close, done }: Place & { close: () => void; done: () => void }) {
  const [reason, setReason] = useState('');
  const [time, setTime] = useState('');
  const pause = async (): Promise<void> => {
    const body = { ...(reason !== '' && { reason }), ...(time !== '' && { for: time }) };
    await request(pathOfPause({ vhost, name }), { method: 'PUT', body });
    toast('The queue is paused.');
    done();
  };
  return (
    <Dialog title="Pause the queue" close={close}>
      <ActionForm label="Pause" act={pause} close={close}>
        <p>
          The consumers of <Name of={name} empty="(empty)" /> get no messages, in all processes. The queue still takes
          messages, and what waits may expire.
        </p>
        <ReasonField value={reason} onInput={setReason} />
        <label class="field">
          <span>How long</span>
          <select value={time} onChange={(event) => setTime(event.currentTarget.value)}>
            {times.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </ActionForm>
    </Dialog>
  );
}
