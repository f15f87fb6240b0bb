import { useState } from 'preact/hooks';
import { pathOf, request } from '../../api/http';
import { useAction } from '../../api/use-resource';
import { toast } from '../../ui/toasts';
import { headersProblem } from './headers';

/** Publishes a message to the queue, over the default exchange. */
export function Publish({ vhost, name, done }: { vhost: string; name: string; done: () => void }) {
  const [payload, setPayload] = useState('');
  const [contentType, setContentType] = useState('application/json');
  const [expiration, setExpiration] = useState('');
  const [headers, setHeaders] = useState('');
  const [isPersistent, setPersistent] = useState(true);
  const { isBusy, problem, setProblem, run } = useAction();

  const publish = async (): Promise<void> => {
    const properties = {
      delivery_mode: isPersistent ? 2 : 1,
      ...(contentType !== '' && { content_type: contentType }),
      ...(expiration !== '' && { expiration }),
      ...(headers.trim() !== '' && { headers: JSON.parse(headers) as unknown }),
    };
    const { routed } = await request<{ routed: boolean }>(pathOf('exchanges', vhost, 'amq.default', 'publish'), {
      method: 'POST',
      body: { routing_key: name, payload, payload_encoding: 'string', properties },
    });
    if (routed) toast('Published. The queue has the message.');
    else toast('Not published: the queue does not exist any more.', 'failed');
    done();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const wrong = headersProblem(headers);
    setProblem(wrong);
    if (wrong === undefined) void run(publish);
  };

  return (
    <form class="card-body publish" onSubmit={submit}>
      <label class="field publish-body">
        <span>Body</span>
        <textarea rows={5} value={payload} onInput={(event) => setPayload(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>Content type</span>
        <input value={contentType} onInput={(event) => setContentType(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>Expires after milliseconds</span>
        <input
          inputMode="numeric"
          pattern="[0-9]*"
          title="A number of milliseconds"
          placeholder="never"
          value={expiration}
          onInput={(event) => setExpiration(event.currentTarget.value)}
        />
      </label>
      <label class="field publish-body">
        <span>Headers, as a JSON object</span>
        <input
          class="mono"
          placeholder='{"tenant": 7}'
          value={headers}
          onInput={(event) => setHeaders(event.currentTarget.value)}
        />
      </label>
      {problem !== undefined && (
        <p class="banner banner-failed publish-body" role="alert">
          {problem}
        </p>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={isPersistent}
          onChange={(event) => setPersistent(event.currentTarget.checked)}
        />
        Persistent
      </label>
      <div class="publish-action">
        <button type="submit" disabled={isBusy}>
          {isBusy ? 'Publishing' : 'Publish to this queue'}
        </button>
      </div>
    </form>
  );
}
