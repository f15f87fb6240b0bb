import { request } from '../api/http';
import { useResource } from '../api/use-resource';
import type { Address } from '../router';
import { session } from '../session';
import { TextFilter } from '../ui/filters';
import { count } from '../ui/format';
import { Name, PageHead, Tag, visible } from '../ui/parts';
import { Failure, Loading, Notice } from '../ui/states';
import { type Column, Table } from '../ui/table';

interface Permission {
  readonly user: string;
  readonly vhost: string;
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

interface User {
  readonly name: string;
  readonly tags: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly permissions: readonly Permission[];
}

/** What the tags of a user allow in this console. */
const tips: Readonly<Record<string, string>> = {
  administrator: 'sees and changes everything',
  monitoring: 'sees everything and changes nothing',
  policymaker: 'sees the own virtual hosts, and changes policies',
  management: 'sees the own virtual hosts',
};

/** The page `users`: tags, permissions by virtual host, and limits. Only administrators may see it. */
export default function Users({ address: { query } }: { address: Address }) {
  const wanted = query.get('name') ?? '';
  const answer = useResource('users', loadUsers);
  const { data, error } = answer;
  if (error?.isForbidden === true) {
    return (
      <>
        <PageHead title="Users" />
        <div class="card">
          <Notice kind="forbidden" title="Users are for administrators">
            <p>
              You are signed in as <b>{visible(session.value?.user ?? '')}</b>
              {tagsOf(session.value?.tags ?? [])}. The list of users needs the tag administrator.
            </p>
          </Notice>
        </div>
      </>
    );
  }
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase())) ?? [];
  return (
    <>
      <PageHead title="Users" sub="The same users and permissions hold for AMQP, for HTTP and for this console." />
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <TextFilter label="Name" name="name" value={wanted} />
      </form>
      <div class="card">
        {data === undefined && (error === undefined ? <Loading /> : <Failure error={error} retry={answer.reload} />)}
        {data !== undefined && shown.length === 0 && <Notice title="No user matches" />}
        {shown.length > 0 && <Table label="Users" rows={shown} keyOf={({ name }) => name} columns={columns} />}
      </div>
    </>
  );
}

const tagsOf = (tags: readonly string[]): string => (tags.length === 0 ? '' : ` (${tags.join(', ')})`);

async function loadUsers(signal: AbortSignal): Promise<readonly User[]> {
  const [users, permissions] = await Promise.all([
    // Hashes of passwords are not asked for.
    request<readonly Omit<User, 'permissions'>[]>('users', { signal, query: { columns: 'name,tags,limits' } }),
    request<readonly Permission[]>('permissions', { signal }),
  ]);
  const byUser = new Map<string, Permission[]>(users.map(({ name }) => [name, []]));
  for (const permission of permissions) byUser.get(permission.user)?.push(permission);
  return users.map((user) => ({ ...user, permissions: byUser.get(user.name) ?? [] }));
}

const columns: readonly Column<User>[] = [
  {
    title: 'Name',
    cell: ({ name }) => (
      <span>
        <b>
          <Name of={name} />
        </b>{' '}
        {name === session.value?.user && <small>you</small>}
      </span>
    ),
  },
  {
    title: 'Tags',
    cell: ({ tags }) =>
      tags.length === 0 ? (
        <span class="muted" title="A user without a tag can use AMQP, but not this console">
          AMQP only
        </span>
      ) : (
        tags.map((tag) => (
          <Tag key={tag} {...(tips[tag] !== undefined && { tip: tips[tag] })}>
            {visible(tag)}
          </Tag>
        ))
      ),
  },
  { title: 'Permissions', cell: ({ permissions }) => <Permissions of={permissions} /> },
  {
    title: 'Limits',
    minor: true,
    cell: ({ limits }) => {
      const all = Object.entries(limits);
      return all.length === 0 ? (
        <span class="muted">none</span>
      ) : (
        all.map(([name, value]) => (
          <div key={name}>
            {visible(name.replace('max-', ''))} <b>{value < 0 ? 'no limit' : count(value)}</b>
          </div>
        ))
      );
    },
  },
];

function Permissions({ of }: { of: readonly Permission[] }) {
  if (of.length === 0) return <span class="muted">no virtual host</span>;
  return (
    <ul class="permissions">
      {of.map(({ vhost, configure, write, read }) => (
        <li key={vhost}>
          <Name of={vhost} />
          <Right name="configure" of={configure} />
          <Right name="write" of={write} />
          <Right name="read" of={read} />
        </li>
      ))}
    </ul>
  );
}

/** A pattern of names. The empty pattern allows nothing, and `.*` everything. */
function Right({ name, of }: { name: string; of: string }) {
  return (
    <span class={of === '' ? 'muted' : undefined}>
      <small>{name}</small> {of === '' ? 'none' : of === '.*' ? 'all' : <Name of={of} />}
    </span>
  );
}
