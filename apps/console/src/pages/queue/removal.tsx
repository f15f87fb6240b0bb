import { useState } from 'preact/hooks';
import { pathOf, request } from '../../api/http';
import { useResource } from '../../api/use-resource';
import { messages } from '../../letters/words';
import { ActionForm, Dialog } from '../../ui/dialog';
import { count } from '../../ui/format';
import { Name, visible } from '../../ui/parts';
import { Loaded } from '../../ui/states';
import { toast } from '../../ui/toasts';

/** The present counts of a queue. */
interface Counts {
  readonly messages_ready: number;
  readonly messages_unacknowledged: number;
  readonly consumers: number;
}

/** Asks before a queue is purged or deleted: shows the exact counts, and waits until the name is typed. */
export function Removal(props: {
  kind: 'purge' | 'delete';
  vhost: string;
  name: string;
  close: () => void;
  done: () => void;
}) {
  const { kind, vhost, name, close, done } = props;
  const counts = useResource(
    JSON.stringify([kind, vhost, name]),
    (signal) =>
      request<Counts>(pathOf('queues', vhost, name), {
        query: { columns: 'messages_ready,messages_unacknowledged,consumers' },
        signal,
      }),
    2_000,
  );
  return (
    <Dialog title={kind === 'purge' ? 'Purge the queue' : 'Delete the queue'} close={close}>
      <Loaded of={counts} lines={3}>
        {(data) => (
          <>
            <What kind={kind} counts={data} />
            <Confirmation {...props} ready={data.messages_ready} close={close} done={done} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

function What({ kind, counts }: { kind: 'purge' | 'delete'; counts: Counts }) {
  const { messages_ready: ready, messages_unacknowledged: unacked, consumers } = counts;
  if (kind === 'purge') {
    return (
      <div class="removal">
        <p>
          <b>{messages(ready)}</b> will be deleted for good.
        </p>
        <ul>
          <li>They are not dead-lettered.</li>
          {unacked > 0 && <li>{messages(unacked)} at consumers stay, because they are not acknowledged yet.</li>}
        </ul>
      </div>
    );
  }
  return (
    <div class="removal">
      <p>
        The queue, its bindings and <b>{messages(ready + unacked)}</b> will be deleted for good.
      </p>
      <ul>
        <li>The messages are not dead-lettered.</li>
        {unacked > 0 && <li>{messages(unacked)} of them are at consumers now.</li>}
        {consumers > 0 && <li>{consumers === 1 ? 'One consumer loses' : `${count(consumers)} consumers lose`} it.</li>}
      </ul>
    </div>
  );
}

function Confirmation(props: {
  kind: 'purge' | 'delete';
  vhost: string;
  name: string;
  ready: number;
  close: () => void;
  done: () => void;
}) {
  const { kind, vhost, name, ready, close, done } = props;
  const [typed, setTyped] = useState('');
  // Characters that a keyboard cannot type are shown as escapes, and can be typed as such.
  const isName = typed === name || typed === visible(name);
  const remove = async (): Promise<void> => {
    const path = kind === 'purge' ? pathOf('queues', vhost, name, 'contents') : pathOf('queues', vhost, name);
    await request(path, { method: 'DELETE' });
    toast(kind === 'purge' ? 'The queue is purged.' : 'The queue is deleted.');
    done();
  };
  const label = kind === 'purge' ? `Purge ${messages(ready)}` : 'Delete the queue';
  return (
    <ActionForm label={label} tone="danger" isOff={!isName} act={remove} close={close}>
      <label class="field">
        <span>
          Type <Name of={name} empty="(empty)" /> to confirm
        </span>
        <input
          class="mono"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
    </ActionForm>
  );
}
