import { request } from '../api/http';
import { type Resource, useResource } from '../api/use-resource';
import { type Address, href } from '../router';
import { count, duration } from '../ui/format';
import { Card, Name, PageHead, visible } from '../ui/parts';
import { Loaded, Notice } from '../ui/states';
import { type Column, Pager, Table } from '../ui/table';
import { useVhosts, VhostChoice } from '../ui/vhosts';

interface Policy {
  readonly vhost: string;
  readonly name: string;
  readonly pattern: string;
  readonly 'apply-to': string;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly priority: number;
}

/** A queue with the policies in effect on it. */
interface Governed {
  readonly vhost: string;
  readonly name: string;
  readonly policy?: string | null;
  readonly operator_policy?: string | null;
}

/** The page `policies`: policies and operator policies, and the queues on which they are in effect. */
export default function Policies({ address: { query } }: { address: Address }) {
  const vhost = query.get('vhost') ?? '';
  const vhosts = useVhosts();
  const policies = usePolicies('policies');
  const operator = usePolicies('operator-policies');
  const queues = useResource('governed queues', (signal) =>
    request<readonly Governed[]>('queues', { signal, query: { columns: 'vhost,name,policy,operator_policy' } }),
  );
  const inEffect = (key: 'policy' | 'operator_policy') => governedBy(queues.data ?? [], key);
  return (
    <>
      <PageHead
        title="Policies"
        sub="Of several policies that match a queue, the one with the highest priority is in effect."
      />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <VhostChoice value={vhost} names={vhosts.data ?? []} />
      </form>
      <List
        title="Policies"
        of={policies}
        vhost={vhost}
        queues={inEffect('policy')}
        what="policies"
        query={query}
        pageName="page"
      >
        Policies set time to live, lengths and dead-letter exchanges of queues without touching the applications.
      </List>
      <List
        title="Operator policies"
        of={operator}
        vhost={vhost}
        queues={inEffect('operator_policy')}
        what="operator policies"
        query={query}
        pageName="operator_page"
      >
        Operator policies cap the settings of applications and of other policies.
      </List>
    </>
  );
}

const usePolicies = (path: string): Resource<readonly Policy[]> =>
  useResource(path, async (signal) =>
    (await request<readonly Policy[]>(path, { signal })).toSorted(
      (one, other) => one.vhost.localeCompare(other.vhost) || other.priority - one.priority,
    ),
  );

/** A name in its virtual host. Names may have any character. */
const keyIn = (vhost: string, name: string): string => JSON.stringify([vhost, name]);

/** The names of queues by virtual host and policy. */
function governedBy(queues: readonly Governed[], key: 'policy' | 'operator_policy'): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const queue of queues) {
    const policy = queue[key];
    if (typeof policy !== 'string' || policy === '') continue;
    const names = found.get(keyIn(queue.vhost, policy));
    if (names === undefined) found.set(keyIn(queue.vhost, policy), [queue.name]);
    else names.push(queue.name);
  }
  return found;
}

/** The policies that are shown at once. */
const onPage = 100;

const pageIn = (query: URLSearchParams, name: string): number =>
  Math.max(1, Number.parseInt(query.get(name) ?? '1', 10) || 1);

function List(props: {
  title: string;
  of: Resource<readonly Policy[]>;
  vhost: string;
  queues: ReadonlyMap<string, readonly string[]>;
  what: string;
  query: URLSearchParams;
  /** The name of the page in the address. */
  pageName: string;
  children: string;
}) {
  const { title, of, vhost, queues, what, query, pageName, children } = props;
  return (
    <Card title={title} actions={of.data !== undefined && <small>{count(of.data.length)}</small>}>
      <Loaded of={of} what={what} lines={3}>
        {(all) => {
          const shown = all.filter((policy) => vhost === '' || policy.vhost === vhost);
          const pages = Math.max(1, Math.ceil(shown.length / onPage));
          const page = Math.min(pages, pageIn(query, pageName));
          return shown.length === 0 ? (
            <Notice title={`No ${what}`}>
              <p>{children}</p>
            </Notice>
          ) : (
            <>
              <Table
                label={title}
                rows={shown.slice((page - 1) * onPage, page * onPage)}
                keyOf={(policy) => keyIn(policy.vhost, policy.name)}
                columns={columns(queues)}
              />
              {pages > 1 && (
                <Pager
                  page={page}
                  pages={pages}
                  filtered={shown.length}
                  total={all.length}
                  what={what}
                  name={pageName}
                />
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

const columns = (queues: ReadonlyMap<string, readonly string[]>): readonly Column<Policy>[] => [
  {
    title: 'Name',
    cell: ({ name, vhost }) => (
      <span class="stacked">
        <b>
          <Name of={name} />
        </b>
        {vhost !== '/' && (
          <small>
            in <Name of={vhost} />
          </small>
        )}
      </span>
    ),
  },
  {
    title: 'Pattern',
    cell: ({ pattern }) => (
      <span class="pattern">
        <Name of={pattern} empty="(empty)" />
      </span>
    ),
  },
  { title: 'Applies to', minor: true, cell: (policy) => visible(policy['apply-to']) },
  {
    title: 'Definition',
    cell: ({ definition }) => (
      <dl class="definition">
        {Object.entries(definition).map(([key, value]) => (
          <div key={key}>
            <dt>{visible(key)}</dt>
            <dd>
              <code>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</code>
              {isSpan(key) && typeof value === 'number' && <small> {duration(value)}</small>}
            </dd>
          </div>
        ))}
      </dl>
    ),
  },
  { title: 'Priority', numeric: true, minor: true, cell: ({ priority }) => priority },
  {
    title: 'In effect on',
    tip: 'Queues on which no policy of a higher priority takes its place',
    cell: ({ vhost, name }) => <Queues vhost={vhost} names={queues.get(keyIn(vhost, name)) ?? []} />,
  },
];

/** True for settings in milliseconds. */
const isSpan = (key: string): boolean => key === 'message-ttl' || key === 'expires';

/** The most names that are listed. */
const most = 50;

function Queues({ vhost, names }: { vhost: string; names: readonly string[] }) {
  if (names.length === 0) return <span class="muted">no queue</span>;
  return (
    <details>
      <summary>{names.length === 1 ? '1 queue' : `${count(names.length)} queues`}</summary>
      <ul>
        {names.slice(0, most).map((name) => (
          <li key={name}>
            <a href={href(['queues', vhost, name])}>
              <Name of={name} />
            </a>
          </li>
        ))}
        {names.length > most && <li class="muted">and {count(names.length - most)} more</li>}
      </ul>
    </details>
  );
}
