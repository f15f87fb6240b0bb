import type { LetterGroup } from '../../api/types';
import { changePlace } from '../../letters/links';

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
