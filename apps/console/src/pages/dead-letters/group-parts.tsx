import type { LetterGroup } from '../../api/types';
import { changePlace } from '../../letters/links';
import { href } from '../../router';
import { Name, Reason } from '../../ui/parts';

/** Chooses what the groups of a queue have in common. */
export function Grouping({ isByFingerprint, vhost }: { isByFingerprint: boolean; vhost: string | undefined }) {
  return (
    <label>
      Group by
      <select
        value={isByFingerprint ? 'fingerprint' : ''}
        disabled={vhost === undefined}
        onChange={(event) => changePlace({ by: event.currentTarget.value || undefined, vhost })}
      >
        <option value="">kind of error</option>
        <option value="fingerprint">fingerprint</option>
      </select>
    </label>
  );
}

/** The virtual host of all groups; undefined if they are of several, or if there are none. */
export function onlyVhost(groups: readonly LetterGroup[]): string | undefined {
  const [first] = groups;
  return groups.every(({ vhost }) => vhost === first?.vhost) ? first?.vhost : undefined;
}

/** How the messages of a group came into their queue. */
export function Way({ of: { vhost, reason, first_queue } }: { of: LetterGroup }) {
  return (
    <>
      <Reason of={reason} />
      {first_queue !== '' && (
        <>
          <span class="muted">in</span>
          <a href={href(['queues', vhost, first_queue])}>
            <Name of={first_queue} />
          </a>
        </>
      )}
      <span class="muted">{first_queue === '' ? 'waits in' : '→'}</span>
    </>
  );
}

/** The fingerprint of a group. */
export function Fingerprint({ of }: { of: string }) {
  return (
    <>
      <Name of={of} empty="no fingerprint" /> <span class="muted">in</span>
    </>
  );
}

/** The error of a group: its class in bold, then its message. With a fingerprint, the error of one of its messages. */
export function ErrorKind({ of: { error, reason, fingerprint } }: { of: LetterGroup }) {
  if (error === '') {
    return <span>{(fingerprint === undefined ? withoutError[reason] : undefined) ?? 'No error recorded'}</span>;
  }
  const colon = error.indexOf(': ');
  if (colon < 0) return <Name of={error} />;
  return (
    <>
      <b>
        <Name of={error.slice(0, colon)} />
      </b>{' '}
      <Name of={error.slice(colon + 2)} />
    </>
  );
}

/** What is known of messages whose handler recorded no error. */
const withoutError: Readonly<Record<string, string>> = {
  '': 'Never died, published here',
  parked: 'Parked without an error',
  rejected: 'Rejected without an error',
  expired: 'Expired in the queue',
  maxlen: 'The queue was full',
  delivery_limit: 'Delivered too often',
};
