import { useState } from 'preact/hooks';
import { pathOf, request } from '../api/http';
import { useResource } from '../api/use-resource';
import type { Destination } from './api';

/** Where messages go: to the recorded origin of each, into a queue, or to an exchange with a routing key. */
export interface DestinationChoice {
  readonly kind: 'origin' | 'queue' | 'address';
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
}

export const toOrigin: DestinationChoice = { kind: 'origin', queue: '', exchange: '', routingKey: '' };
export const toQueue: DestinationChoice = { ...toOrigin, kind: 'queue' };

/** The destination of a choice. @returns null: of each message its own; undefined: the choice is not complete */
export function destinationOf(choice: DestinationChoice): Destination | null | undefined {
  if (choice.kind === 'origin') return null;
  if (choice.kind === 'queue') return choice.queue === '' ? undefined : { exchange: '', routing_key: choice.queue };
  return choice.exchange === '' && choice.routingKey === ''
    ? undefined
    : { exchange: choice.exchange, routing_key: choice.routingKey };
}

/** The choice of a destination. */
export function DestinationForm(props: {
  vhost: string;
  value: DestinationChoice;
  change: (value: DestinationChoice) => void;
  /** False: messages are put aside, so that their origin is no destination. */
  hasOrigin?: boolean;
  /** True: one message. */
  isOne?: boolean;
}) {
  const { vhost, value, change, hasOrigin = true, isOne = false } = props;
  const option = (kind: DestinationChoice['kind'], text: string) => (
    <label class="check">
      <input
        type="radio"
        name="destination"
        checked={value.kind === kind}
        onChange={() => change({ ...value, kind })}
      />
      {text}
    </label>
  );
  return (
    <fieldset class="destination">
      <legend>Send to</legend>
      <div class="choices">
        {hasOrigin && option('origin', isOne ? 'where it came from' : 'where each came from')}
        {option('queue', 'a queue')}
        {option('address', 'an exchange')}
      </div>
      {value.kind === 'queue' && (
        <QueueInput vhost={vhost} value={value.queue} change={(queue) => change({ ...value, queue })} />
      )}
      {value.kind === 'address' && (
        <div class="pair">
          <label class="field">
            <span>Exchange</span>
            <input
              value={value.exchange}
              placeholder="(default)"
              spellcheck={false}
              onInput={(event) => change({ ...value, exchange: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            <span>Routing key</span>
            <input
              value={value.routingKey}
              spellcheck={false}
              onInput={(event) => change({ ...value, routingKey: event.currentTarget.value })}
            />
          </label>
        </div>
      )}
    </fieldset>
  );
}

/** The name of a queue, with suggestions from the server. */
function QueueInput(props: { vhost: string; value: string; change: (value: string) => void }) {
  const { vhost, value, change } = props;
  const [asked, setAsked] = useState('');
  const found = useResource(`queues ${vhost} ${asked}`, (signal) =>
    request<{ items: readonly { name: string }[] }>(pathOf('queues', vhost), {
      signal,
      query: { page: 1, page_size: 30, name: asked, columns: 'name' },
    }),
  );
  return (
    <label class="field">
      <span>Queue</span>
      <input
        list="queue-names"
        value={value}
        spellcheck={false}
        autocomplete="off"
        placeholder="orders.parking"
        onInput={(event) => {
          change(event.currentTarget.value);
          setAsked(event.currentTarget.value);
        }}
      />
      <datalist id="queue-names">
        {found.data?.items.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}
