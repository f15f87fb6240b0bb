import { useState } from 'preact/hooks';
import { apiErrorOf, pathOf, request } from '../api/http';
import type { Page } from '../api/types';
import { useResource } from '../api/use-resource';
import type { Address } from '../router';
import { isAdministrator, isReadOnly, session } from '../session';
import { Dialog, DialogActions } from '../ui/dialog';
import { TextFilter } from '../ui/filters';
import { bytes } from '../ui/format';
import { Age, Name, PageHead, Tag, visible } from '../ui/parts';
import { Loaded, Notice } from '../ui/states';
import { type Column, Pager, Table } from '../ui/table';
import { toast } from '../ui/toasts';

interface Connection {
  readonly name: string;
  readonly user: string;
  readonly vhost: string;
  readonly state: string;
  readonly channels: number;
  readonly connected_at: number;
  readonly ssl: boolean;
  readonly protocol: string;
  readonly recv_oct_details?: { readonly rate: number };
  readonly send_oct_details?: { readonly rate: number };
  readonly client_properties?: Readonly<Record<string, unknown>>;
}

const shownColumns = [
  'name',
  'user',
  'vhost',
  'state',
  'channels',
  'connected_at',
  'ssl',
  'protocol',
  'recv_oct_details.rate',
  'send_oct_details.rate',
  'client_properties.connection_name',
  'client_properties.product',
  'client_properties.version',
];

/** The pause between two looks, in milliseconds. */
const interval = 5_000;

/** The page `connections`: the clients of the broker. */
export default function Connections({ address: { query } }: { address: Address }) {
  const name = query.get('name') ?? '';
  const [page, sort, reverse] = ['page', 'sort', 'sort_reverse'].map((each) => query.get(each) ?? '');
  const answer = useResource(
    JSON.stringify([name, page, sort, reverse]),
    (signal) =>
      request<Page<Connection>>('connections', {
        signal,
        query: {
          page: page || 1,
          page_size: 100,
          name,
          sort: sort || 'name',
          sort_reverse: reverse,
          columns: shownColumns.join(','),
        },
      }),
    interval,
  );
  const [closing, setClosing] = useState<Connection>();
  return (
    <>
      <PageHead
        title="Connections"
        sub={isAdministrator() || isReadOnly() ? 'All clients of the broker.' : 'Your clients of the broker.'}
      />
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <TextFilter label="Address" name="name" value={name} placeholder="10.0.0.7" />
      </form>
      <div class="card">
        <Loaded of={answer} what="connections">
          {(data) =>
            data.items.length === 0 ? (
              <Notice title={name === '' ? 'No client is connected' : 'No connection matches'} />
            ) : (
              <>
                <Table
                  label="Connections"
                  rows={data.items}
                  keyOf={(connection) => connection.name}
                  columns={columns(setClosing)}
                />
                <Pager
                  page={data.page}
                  pages={data.page_count}
                  filtered={data.filtered_count}
                  total={data.total_count}
                  what={data.total_count === 1 ? 'connection' : 'connections'}
                />
              </>
            )
          }
        </Loaded>
      </div>
      {closing !== undefined && <Closing of={closing} close={() => setClosing(undefined)} done={answer.reload} />}
    </>
  );
}

const mayClose = ({ user }: Connection): boolean =>
  isAdministrator() || (!isReadOnly() && user === session.value?.user);

const columns = (close: (connection: Connection) => void): readonly Column<Connection>[] => [
  {
    title: 'Client',
    sort: 'name',
    cell: (connection) => (
      <span class="stacked">
        <b>{clientOf(connection)}</b>
        <small>
          <Name of={connection.name} />
        </small>
      </span>
    ),
  },
  {
    title: 'User',
    sort: 'user',
    cell: ({ user, vhost }) => (
      <span class="stacked">
        <Name of={user} />
        {vhost !== '/' && (
          <small>
            in <Name of={vhost} />
          </small>
        )}
      </span>
    ),
  },
  {
    title: 'State',
    sort: 'state',
    minor: true,
    cell: ({ state, ssl }) => (
      <>
        <span class={state === 'running' ? undefined : 'stay'}>{visible(state)}</span>{' '}
        {ssl && <Tag tip="encrypted">TLS</Tag>}
      </>
    ),
  },
  { title: 'Channels', sort: 'channels', numeric: true, minor: true, cell: ({ channels }) => channels },
  {
    title: 'Received',
    sort: 'recv_oct_details.rate',
    numeric: true,
    minor: true,
    cell: ({ recv_oct_details }) => `${bytes(Math.round(recv_oct_details?.rate ?? 0))}/s`,
  },
  {
    title: 'Sent',
    sort: 'send_oct_details.rate',
    numeric: true,
    minor: true,
    cell: ({ send_oct_details }) => `${bytes(Math.round(send_oct_details?.rate ?? 0))}/s`,
  },
  {
    title: 'Connected',
    sort: 'connected_at',
    numeric: true,
    minor: true,
    cell: ({ connected_at }) => <Age of={connected_at} />,
  },
  {
    title: 'Close',
    heading: <span class="visually-hidden">Close</span>,
    numeric: true,
    cell: (connection) =>
      mayClose(connection) && (
        <button
          type="button"
          class="quiet"
          aria-label={`Close ${visible(connection.name)}`}
          onClick={() => close(connection)}
        >
          Close…
        </button>
      ),
  },
];

/** The name that a client gave itself, or its library. */
function clientOf({ client_properties: client = {}, protocol }: Connection): string {
  const [own, product, version] = ['connection_name', 'product', 'version'].map((key) =>
    typeof client[key] === 'string' ? visible(client[key].slice(0, 120)) : '',
  );
  if (own) return product ? `${own} · ${product}` : own;
  return product ? `${product} ${version ?? ''}`.trim() : protocol;
}

function Closing({ of, close, done }: { of: Connection; close: () => void; done: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const end = async (): Promise<void> => {
    setBusy(true);
    try {
      await request(pathOf('connections', of.name), { method: 'DELETE' });
      toast('The connection is closed.');
    } catch (error) {
      toast(apiErrorOf(error).message, 'failed');
    }
    close();
    done();
  };
  return (
    <Dialog title="Close this connection?" close={close}>
      <p>
        <b>{clientOf(of)}</b> of user <Name of={of.user} />, <Name of={of.name} />
      </p>
      <p>
        {of.channels === 1 ? 'Its channel is closed.' : `Its ${of.channels} channels are closed.`} Messages that it has
        not acknowledged return to their queues. Most clients connect again by themselves.
      </p>
      <DialogActions close={close}>
        <button type="button" class="danger" disabled={isBusy} onClick={() => void end()}>
          Close the connection
        </button>
      </DialogActions>
    </Dialog>
  );
}
