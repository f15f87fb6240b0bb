import { useState } from 'preact/hooks';
import type { LetterGroup } from '../../api/types';
import { useResource } from '../../api/use-resource';
import { type Action, ActionDialog } from '../../letters/action-dialog';
import { loadFingerprints, loadGroups, type Groups, type Target } from '../../letters/api';
import { isEmptyFilter, type LetterFilter } from '../../letters/filter';
import { messages } from '../../letters/words';
import { focusedRow, useKeys } from '../../keyboard';
import { href } from '../../router';
import { isReadOnly } from '../../session';
import { count } from '../../ui/format';
import { Age, Name, NotProven, PageHead, visible } from '../../ui/parts';
import { Loaded, Notice } from '../../ui/states';
import { type Column, Table } from '../../ui/table';
import { FilterBar } from './filter-bar';
import { ErrorKind, Fingerprint, Grouping, onlyVhost, Way } from './group-parts';
import { lettersHref } from '../../letters/links';
import { Check, SelectionBar, useSelection } from './selection';

/** The pause between two looks at all queues, in milliseconds. */
const interval = 10_000;

const keyOf = ({ vhost, queue, reason, first_queue, error, fingerprint }: LetterGroup): string =>
  JSON.stringify(fingerprint === undefined ? [vhost, queue, reason, first_queue, error] : [vhost, queue, fingerprint]);

/** The filter of the messages of a group: that of the page, and what the group has in common. */
const filterOfGroup = (
  { reason, first_queue, error, fingerprint }: LetterGroup,
  filter: LetterFilter,
): LetterFilter => ({
  ...filter,
  ...(fingerprint === undefined ? { reason, first_queue, error } : { fingerprint }),
});

/** The orders in which groups can be shown. */
const orders: Readonly<Record<string, (one: LetterGroup, other: LetterGroup) => number>> = {
  count: (one, other) => one.count - other.count,
  queue: (one, other) => one.queue.localeCompare(other.queue),
  oldest: (one, other) => (one.oldest ?? 0) - (other.oldest ?? 0),
  newest: (one, other) => (one.newest ?? 0) - (other.newest ?? 0),
};

/** Dead letters of all queues, grouped by queue, reason and error; those of one queue also by fingerprint (`by`). */
export function GroupList(props: {
  vhost: string | undefined;
  queue: string | undefined;
  filter: LetterFilter;
  query: URLSearchParams;
}) {
  const { vhost, queue, filter, query } = props;
  const isByFingerprint = query.get('by') === 'fingerprint' && vhost !== undefined && queue !== undefined;
  const question = JSON.stringify([vhost, queue, filter, isByFingerprint]);
  const answer = useResource(
    question,
    (signal) =>
      isByFingerprint
        ? loadFingerprints({ vhost, queue, filter }, signal)
        : loadGroups({ vhost, queue, filter }, signal),
    interval,
  );
  const selection = useSelection(question);
  const [action, setAction] = useState<Action>();

  const groups = sorted(answer.data?.groups ?? [], query);
  const total = groups.reduce((sum, group) => sum + group.count, 0) + (answer.data?.others ?? 0);
  const chosen = groups.filter((group) => selection.keys.has(keyOf(group)));
  const targetOf = (group: LetterGroup): Target => ({
    vhost: group.vhost,
    queue: group.queue,
    filter: filterOfGroup(group, filter),
  });
  const begin = (kind: Action['kind']): void => {
    const row = focusedRow()?.dataset['row'];
    const about = chosen.length > 0 ? chosen : groups.filter((group) => keyOf(group) === row);
    if (about.length > 0 && !isReadOnly()) setAction({ kind, what: whatOf(about), targets: about.map(targetOf) });
  };
  useKeys([
    {
      key: 'x',
      text: 'Choose the row',
      run: () => {
        const row = focusedRow()?.dataset['row'];
        if (row !== undefined) selection.toggle(row);
      },
    },
    { key: 'r', text: 'Redrive the chosen rows, or the present one', run: () => begin('redrive') },
    { key: 'p', text: 'Park them', run: () => begin('park') },
    { key: 'd', text: 'Delete them', run: () => begin('delete') },
  ]);

  return (
    <>
      <PageHead title="Dead letters" sub={answer.data === undefined ? 'All queues' : summary(answer.data, total)}>
        {queue !== undefined && vhost !== undefined && (
          <a class="button" href={lettersHref(vhost, queue, filter)}>
            Messages of this queue
          </a>
        )}
      </PageHead>
      <FilterBar vhost={vhost} queue={queue} filter={filter} queues={[...new Set(groups.map((group) => group.queue))]}>
        {queue !== undefined && <Grouping isByFingerprint={isByFingerprint} vhost={vhost ?? onlyVhost(groups)} />}
      </FilterBar>
      <div class="card">
        <Loaded of={answer} what="dead letters" lines={8}>
          {(data) => (
            <>
              {groups.length === 0 ? (
                <Nothing filter={filter} queue={queue} />
              ) : (
                <Table
                  label="Groups of dead letters"
                  rows={groups}
                  keyOf={keyOf}
                  rowClass={(group) => (selection.keys.has(keyOf(group)) ? 'selected' : undefined)}
                  columns={columns({
                    most: Math.max(...groups.map((group) => group.count)),
                    filter,
                    chosen: selection.keys,
                    toggle: selection.toggle,
                    toggleAll: () => selection.set(chosen.length === groups.length ? [] : groups.map(keyOf)),
                    all: groups.length,
                    unproven: new Set(data.unproven.map((each) => JSON.stringify([each.vhost, each.queue]))),
                  })}
                />
              )}
              <Remarks of={data} />
            </>
          )}
        </Loaded>
      </div>
      {chosen.length > 0 && (
        <SelectionBar
          label="Chosen groups"
          what={whatOf(chosen)}
          targets={chosen.map(targetOf)}
          start={setAction}
          clear={() => selection.set([])}
        >
          {whatOf(chosen)}
        </SelectionBar>
      )}
      {action !== undefined && (
        <ActionDialog
          action={action}
          close={() => setAction(undefined)}
          done={() => {
            selection.set([]);
            answer.reload();
          }}
        />
      )}
    </>
  );
}

function columns(props: {
  most: number;
  all: number;
  /** Virtual host and name of the queues that only headers call dead-letter queues, as JSON. */
  unproven: ReadonlySet<string>;
  filter: LetterFilter;
  chosen: ReadonlySet<string>;
  toggle: (key: string) => void;
  toggleAll: () => void;
}): readonly Column<LetterGroup>[] {
  const { most, all, unproven, filter, chosen, toggle, toggleAll } = props;
  return [
    {
      title: 'Choose',
      heading: (
        <Check label="Choose all groups" checked={chosen.size === all} some={chosen.size > 0} toggle={toggleAll} />
      ),
      cell: (group) => (
        <Check label="Choose this group" checked={chosen.has(keyOf(group))} toggle={() => toggle(keyOf(group))} />
      ),
    },
    {
      title: 'Error',
      cell: (group) => (
        <div class="group">
          <a class="group-error" href={lettersHref(group.vhost, group.queue, filterOfGroup(group, filter))}>
            <ErrorKind of={group} />
          </a>
          <span class="group-way">
            {group.fingerprint === undefined ? <Way of={group} /> : <Fingerprint of={group.fingerprint} />}
            <a href={lettersHref(group.vhost, group.queue, filter)}>
              <Name of={group.queue} />
            </a>
            {unproven.has(JSON.stringify([group.vhost, group.queue])) && <NotProven />}
            {group.vhost !== '/' && <span class="tag">{visible(group.vhost)}</span>}
          </span>
        </div>
      ),
    },
    {
      title: 'Messages',
      sort: 'count',
      numeric: true,
      cell: (group) => (
        <div class="group-count">
          <b>{count(group.count)}</b>
          <i style={{ width: `${Math.max(2, (group.count / most) * 100)}%` }} data-reason={group.reason} />
        </div>
      ),
    },
    { title: 'Oldest', sort: 'oldest', numeric: true, minor: true, cell: (group) => <Age of={group.oldest} /> },
    { title: 'Newest', sort: 'newest', numeric: true, minor: true, cell: (group) => <Age of={group.newest} /> },
  ];
}

function sorted(groups: readonly LetterGroup[], query: URLSearchParams): readonly LetterGroup[] {
  const order = orders[query.get('sort') ?? ''];
  if (order === undefined) return groups;
  const sign = query.get('sort_reverse') === 'true' ? -1 : 1;
  return groups.toSorted((one, other) => sign * order(one, other));
}

const whatOf = (groups: readonly LetterGroup[]): string => {
  const total = messages(groups.reduce((sum, group) => sum + group.count, 0));
  return groups.length === 1 ? `${total} of one group` : `${total} of ${groups.length} groups`;
};

function summary({ groups, queues }: Groups, total: number): string {
  const inQueues = queues === 1 ? '1 queue' : `${count(queues)} queues`;
  return `${messages(total)} in ${groups.length === 1 ? '1 group' : `${count(groups.length)} groups`}, ${inQueues}. Looking changes nothing.`;
}

/** What the answer leaves out. */
function Remarks({ of: { others, complete, scanned, skipped } }: { of: Groups }) {
  if (others === 0 && complete && skipped.length === 0) return null;
  return (
    <div class="remarks">
      {others > 0 && <p>{messages(others)} of further groups are not listed.</p>}
      {!complete && <p>The search ended after {messages(scanned)}. Choose a queue or a reason to see all.</p>}
      {skipped.length > 0 && (
        <details>
          <summary>{skipped.length === 1 ? '1 queue was' : `${skipped.length} queues were`} left out</summary>
          <ul>
            {skipped.map(({ vhost, queue, why }) => (
              <li key={JSON.stringify([vhost, queue])}>
                <Name of={queue} />{' '}
                <span class="muted">
                  in <Name of={vhost} />: {why}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Nothing({ filter, queue }: { filter: LetterFilter; queue: string | undefined }) {
  if (!isEmptyFilter(filter) || queue !== undefined) {
    return (
      <Notice title="No dead letter matches">
        <p>
          <a href={href(['dead-letters'])}>Show all dead letters</a>
        </p>
      </Notice>
    );
  }
  return (
    <Notice title="No dead letters">
      <p>Nothing has died, or everything was sent back. Messages appear here as soon as a queue dead-letters them.</p>
    </Notice>
  );
}
