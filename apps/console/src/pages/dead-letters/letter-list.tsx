import { useEffect, useState } from 'preact/hooks';
import { useEvents } from '../../api/events';
import { useResource } from '../../api/use-resource';
import { focusedRow, useKeys } from '../../keyboard';
import { type Action, ActionDialog } from '../../letters/action-dialog';
import { type Letters, loadLetters, type Target } from '../../letters/api';
import { isEmptyFilter, type LetterFilter } from '../../letters/filter';
import { remember } from '../../letters/trail';
import { messages } from '../../letters/words';
import { href, navigate, setQuery } from '../../router';
import { isReadOnly } from '../../session';
import { count } from '../../ui/format';
import { Name, PageHead } from '../../ui/parts';
import { Loaded, Notice } from '../../ui/states';
import { Table } from '../../ui/table';
import { FilterBar } from './filter-bar';
import { groupsHref, letterHref } from '../../letters/links';
import { letterColumns } from './letter-columns';
import { Actions, SelectionBar, useSelection } from './selection';

/** The messages of one queue that match a filter. */
export function LetterList(props: { vhost: string; queue: string; filter: LetterFilter; cursor: string | undefined }) {
  const { vhost, queue, filter, cursor } = props;
  const scope = JSON.stringify([vhost, queue, filter]);
  const page = useResource(`${scope} ${cursor ?? ''}`, (signal) =>
    loadLetters({ vhost, queue, filter, ...(cursor !== undefined && { cursor }) }, signal),
  );
  const ready = useReady(vhost, queue, page.data?.messages_ready);
  const selection = useSelection(scope);
  const [action, setAction] = useState<Action>();
  const { data } = page;
  const items = data?.items ?? [];
  const isAllChosen = items.length > 0 && items.every(({ id }) => selection.keys.has(id));

  useEffect(() => {
    if (data === undefined) return;
    remember({ vhost, queue, filter, ids: data.items.map(({ id }) => id), cursor: data.cursor }, cursor);
  }, [data]);

  const chosenTarget: Target = { vhost, queue, ids: [...selection.keys] };
  const begin = (kind: Action['kind']): void => {
    const row = focusedRow()?.dataset['row'];
    const ids = selection.keys.size > 0 ? [...selection.keys] : row === undefined ? [] : [row];
    if (ids.length > 0 && !isReadOnly())
      setAction({ kind, what: messages(ids.length), targets: [{ vhost, queue, ids }] });
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
    { key: 'r', text: 'Redrive the chosen messages, or the present one', run: () => begin('redrive') },
    {
      key: 'e',
      text: 'Edit and redrive the present message',
      run: () => {
        const row = focusedRow()?.dataset['row'];
        if (row !== undefined && !isReadOnly()) navigate(`${letterHref(vhost, queue, row, filter)}${editMark(filter)}`);
      },
    },
    { key: 'p', text: 'Park them', run: () => begin('park') },
    { key: 'd', text: 'Delete them', run: () => begin('delete') },
  ]);

  const all: Target = { vhost, queue, filter };
  const isFiltered = !isEmptyFilter(filter);
  return (
    <>
      <nav class="crumbs" aria-label="Path">
        <a href={href(['dead-letters'])}>Dead letters</a> <span aria-hidden="true">/</span>{' '}
        <a href={groupsHref({ vhost, queue })}>Groups of this queue</a>
      </nav>
      <PageHead
        title={<Name of={queue} />}
        sub={
          <>
            {ready === undefined ? 'Reading the queue' : `${messages(ready)} ready`}
            {(data?.messages_unacknowledged ?? 0) > 0 &&
              `, ${count(data?.messages_unacknowledged ?? 0)} unacknowledged`}
            {' · '}
            <a href={href(['queues', vhost, queue])}>Queue</a>
          </>
        }
      >
        {items.length > 0 && (
          <Actions
            what={isFiltered ? 'All messages that match' : 'All messages of the queue'}
            targets={[all]}
            start={setAction}
          />
        )}
      </PageHead>
      <FilterBar vhost={vhost} queue={queue} filter={filter} hasQueue={false} />
      <div class="card">
        <Loaded of={page} what="the messages of this queue" lines={10}>
          {(shown) => (
            <>
              {shown.items.length === 0 ? (
                <Nothing of={shown} isFiltered={isFiltered} isFirst={cursor === undefined} />
              ) : (
                <Table
                  label="Messages"
                  rows={shown.items}
                  keyOf={({ id }) => id}
                  rowClass={({ id }) => (selection.keys.has(id) ? 'selected' : undefined)}
                  columns={letterColumns({
                    vhost,
                    queue,
                    filter,
                    chosen: selection.keys,
                    toggle: selection.toggle,
                    isAllChosen,
                    toggleAll: () => {
                      const ids = shown.items.map(({ id }) => id);
                      selection.set(
                        isAllChosen
                          ? [...selection.keys].filter((key) => !ids.includes(key))
                          : [...selection.keys, ...ids],
                      );
                    },
                  })}
                />
              )}
              <PageEnd of={shown} cursor={cursor} reload={page.reload} ready={ready} />
            </>
          )}
        </Loaded>
      </div>
      {selection.keys.size > 0 && (
        <SelectionBar
          label="Chosen messages"
          what={messages(selection.keys.size)}
          targets={[chosenTarget]}
          start={setAction}
          clear={() => selection.set([])}
        >
          {messages(selection.keys.size)} chosen
          {isAllChosen && data?.cursor !== null && (
            <>
              {' · '}
              <button
                type="button"
                class="link"
                onClick={() =>
                  setAction({
                    kind: 'redrive',
                    what: isFiltered ? 'All messages that match' : 'All messages of the queue',
                    targets: [all],
                  })
                }
              >
                redrive all that match instead
              </button>
            </>
          )}
        </SelectionBar>
      )}
      {action !== undefined && (
        <ActionDialog
          action={action}
          close={() => setAction(undefined)}
          done={() => {
            selection.set([]);
            page.reload();
          }}
        />
      )}
    </>
  );
}

/** The part of the address that opens the editor of a message. */
const editMark = (filter: LetterFilter): string => (isEmptyFilter(filter) ? '?edit=1' : '&edit=1');

/** The number of ready messages, kept up to date by the event stream. */
function useReady(vhost: string, queue: string, loaded: number | undefined): number | undefined {
  const [live, setLive] = useState<number>();
  useEffect(() => setLive(undefined), [vhost, queue, loaded]);
  useEvents({ vhost, queue, interval: 1_000 }, ({ queues }) => {
    const found = queues.find((each) => each.vhost === vhost && each.name === queue);
    if (found !== undefined) setLive(found.messages_ready);
  });
  return live ?? loaded;
}

/** The end of a page: what was examined, and the next page. */
function PageEnd(props: { of: Letters; cursor: string | undefined; reload: () => void; ready: number | undefined }) {
  const { of, cursor, reload, ready } = props;
  const isOld = ready !== undefined && ready !== of.messages_ready;
  return (
    <nav class="pager" aria-label="Pages">
      <span>
        {messages(of.items.length)}
        {of.scanned > of.items.length && ` among ${count(of.scanned)} examined`}
        {of.unreadable !== undefined && `, ${messages(of.unreadable.count)} could not be read`}
        {isOld && (
          <>
            {' · '}
            <button type="button" class="link" onClick={reload}>
              the queue has changed, reload
            </button>
          </>
        )}
      </span>
      <span class="pages">
        {cursor !== undefined && (
          <button type="button" onClick={() => setQuery({ cursor: undefined }, { replace: false })}>
            First page
          </button>
        )}
        {of.cursor !== null && (
          <button type="button" onClick={() => setQuery({ cursor: of.cursor }, { replace: false })}>
            {of.items.length === 0 ? 'Search further' : 'Next page'}
          </button>
        )}
      </span>
    </nav>
  );
}

function Nothing({ of, isFiltered, isFirst }: { of: Letters; isFiltered: boolean; isFirst: boolean }) {
  if (of.cursor !== null) return <Notice title={`No match among the first ${count(of.scanned)} messages`} />;
  if (!isFirst) return <Notice title="No more messages" />;
  return isFiltered ? (
    <Notice title="No message matches" />
  ) : (
    <Notice title="The queue is empty">
      {of.messages_unacknowledged > 0 && (
        <p>{messages(of.messages_unacknowledged)} are with consumers and cannot be looked at.</p>
      )}
    </Notice>
  );
}
