import { request } from '../../api/http';
import { useResource } from '../../api/use-resource';
import { type Address, href, setQuery } from '../../router';
import { TextFilter } from '../../ui/filters';
import { count, dateTime } from '../../ui/format';
import { Age, Name, PageHead, visible } from '../../ui/parts';
import { Loading, Failure, Notice } from '../../ui/states';
import { type Column, Table } from '../../ui/table';
import { useVhosts, VhostChoice } from '../../ui/vhosts';
import { actionOf, type AuditRecord, detailsOf } from './records';

/** The records of one page. */
const pageSize = 100;

/** The page `audit`: who changed what, newest first. */
export default function Audit({ address: { query } }: { address: Address }) {
  const [user, vhost, action, cursor] = ['user', 'vhost', 'action', 'cursor'].map((name) => query.get(name) ?? '');
  const answer = useResource(JSON.stringify([user, vhost, action, cursor]), (signal) =>
    request<{ items: readonly AuditRecord[]; cursor: string | null }>('dlx/audit', {
      signal,
      query: { user, vhost, action, cursor, page_size: pageSize },
    }),
  );
  const vhosts = useVhosts();
  const { data, error } = answer;
  const shown = data?.items ?? [];
  const isFiltered = [user, vhost, action].some((text) => text !== '');
  if (error?.isForbidden === true) {
    return (
      <>
        <PageHead title="Audit" />
        <div class="card">
          <Notice kind="forbidden" title="The audit log is for monitoring users">
            <p>It shows what every user did. Reading it needs the tag monitoring or administrator.</p>
            <p>
              Your own redrives are on the page <a href={href(['redrives'])}>Redrives</a>.
            </p>
          </Notice>
        </div>
      </>
    );
  }
  return (
    <>
      <PageHead title="Audit" sub="Requests that changed something, and requests that were refused. Newest first." />
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <TextFilter label="Action" name="action" value={action ?? ''} placeholder="redrive, DELETE" />
        <TextFilter label="User" name="user" value={user ?? ''} placeholder="whole name" />
        <VhostChoice value={vhost ?? ''} names={vhosts.data ?? []} />
      </form>
      <div class="card">
        {data === undefined && (error === undefined ? <Loading /> : <Failure error={error} retry={answer.reload} />)}
        {data !== undefined && shown.length === 0 && (
          <Notice title={isFiltered ? 'No record matches' : 'Nothing has been changed yet'} />
        )}
        {shown.length > 0 && (
          <Table label="Audit log" rows={shown} keyOf={({ number }) => String(number)} columns={columns} />
        )}
        {data !== undefined && (shown.length > 0 || cursor !== '' || data.cursor !== null) && (
          <nav class="pager" aria-label="Pages">
            <span>{count(shown.length)} records</span>
            <span class="pages">
              {cursor !== '' && (
                <button type="button" onClick={() => setQuery({ cursor: undefined }, { replace: false })}>
                  Newest
                </button>
              )}
              {data.cursor !== null && (
                <button type="button" onClick={() => setQuery({ cursor: data.cursor }, { replace: false })}>
                  Older
                </button>
              )}
            </span>
          </nav>
        )}
      </div>
    </>
  );
}

const columns: readonly Column<AuditRecord>[] = [
  {
    title: 'Time',
    cell: ({ time, number }) => (
      <span class="stacked" title={`Record ${number}`}>
        <Age of={time} />
        <small class="minor">{dateTime(time)}</small>
      </span>
    ),
  },
  {
    title: 'User',
    cell: ({ user, from }) => (
      <span class="stacked">
        <Name of={user} empty="(none)" />
        {from !== '' && <small class="minor">{visible(from)}</small>}
      </span>
    ),
  },
  {
    title: 'Action',
    cell: (record) => {
      const { status = 200, action } = record;
      return (
        <span class="stacked">
          <span title={visible(action)}>{visible(actionOf(record))}</span>
          {status >= 400 && <small class="bad">refused, {status}</small>}
        </span>
      );
    },
  },
  { title: 'On', cell: (record) => <Subject of={record} /> },
  {
    title: 'Details',
    minor: true,
    cell: (record) => (
      <span class="details">
        {detailsOf(record).map(([key, value]) => (
          <span key={key}>
            <span class="muted">{key.replaceAll('_', ' ')}</span> {visible(value)}
          </span>
        ))}
      </span>
    ),
  },
];

/** The object of a record, and a link to the redrive that it names. An edit is no redrive with a page. */
function Subject({ of: { names, details = {} } }: { of: AuditRecord }) {
  const vhost = names['vhost'] ?? textOf(details['vhost']);
  const name = names['user'] ?? names['name'] ?? textOf(details['queue']) ?? names['connection'];
  const { task } = details;
  return (
    <span class="stacked">
      {name !== undefined && <Name of={name} />}
      {vhost !== undefined && vhost !== '/' && (
        <small>
          in <Name of={vhost} />
        </small>
      )}
      {typeof task === 'string' && !task.startsWith('edit-') && (
        <small>
          <a href={href(['redrives', task])}>{visible(task)}</a>
        </small>
      )}
    </span>
  );
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
