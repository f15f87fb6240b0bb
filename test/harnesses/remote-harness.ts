import { policyPatterns } from '../../libs/dlx-broker/src/host/index.js';
import { Remote } from '../../libs/dlx-broker/src/management/remote/remote.js';
import { createRemoteApi, type RemoteApiOptions } from '../../libs/dlx-broker/src/management/remote/remote-api.js';
import type { RemoteHost } from '../../libs/dlx-broker/src/management/remote/host.js';
import type { RemoteServer, ServerRequest } from '../../libs/dlx-broker/src/management/remote/remote-server.js';
import { apiHarness, type ApiCall, type ApiHarness, type HarnessOptions, type Read } from './api-harness.js';

/** The console of an application on a server, without ports and in virtual time. */
export interface RemoteHarness {
  /** The server: a broker with its management API. */
  readonly server: ApiHarness;
  /** The requests that came to the server, in order. */
  readonly asked: ServerRequest[];
  readonly remote: Remote;
  readonly api: ReturnType<typeof createRemoteApi>;
  /** Replaces the answers of the server, for cases about a server that fails. */
  answer: RemoteServer['send'] | undefined;
  /** @param path below `/api`, as a client would write it */
  call(method: string, path: string, call?: ApiCall): Promise<Read>;
}

export interface RemoteHarnessOptions extends HarnessOptions {
  /** `dlx-broker`: the server has the paths below `/api/dlx`. Default `RabbitMQ`: it has none. */
  readonly kind?: 'RabbitMQ' | 'dlx-broker';
  readonly api?: RemoteApiOptions;
  readonly host?: HarnessOptions['host'];
  readonly remoteHost?: Partial<RemoteHost>;
  readonly base?: string;
  /** Paths behind `/api` that this RabbitMQ does not have either. */
  readonly absentPaths?: readonly string[];
}

const noRedrive = (): never => {
  throw new Error('this case has no redrives');
};

/** As RabbitMQ 3.10.8 answers for a path that it does not have: it has no JSON for a client that accepts nothing else. */
const absentTo = (accept = '*/*'): Response =>
  accept.includes('*/*')
    ? new Response(JSON.stringify({ error: 'Object Not Found', reason: 'Not Found' }), { status: 404 })
    : new Response(null, { status: 406 });

export function remoteHarness(options: RemoteHarnessOptions = {}): RemoteHarness {
  const { kind = 'RabbitMQ', api: apiOptions = {}, remoteHost, base = 'http://127.0.0.1:15672', ...more } = options;
  const { absentPaths = [], ...ofServer } = more;
  const server = apiHarness(ofServer);
  const asked: ServerRequest[] = [];
  const harness: { answer: RemoteServer['send'] | undefined } = { answer: undefined };
  const send: RemoteServer['send'] = async (request) => {
    asked.push(request);
    if (harness.answer !== undefined) return harness.answer(request);
    const { method, path, headers, body } = request;
    if (
      kind === 'RabbitMQ' &&
      (path.startsWith('/api/dlx') || absentPaths.some((absent) => path === `/api${absent}`))
    ) {
      return answerOf(absentTo(headers['accept']));
    }
    const sent = new Request(`http://127.0.0.1:15672${path}`, {
      method,
      headers,
      body: body === undefined || body.length === 0 ? null : Buffer.from(body),
    });
    return answerOf(await server.api.fetch(sent, incomingOf(path, '127.0.0.1')));
  };
  const remote = new Remote({
    server: { base, send },
    clock: server.clock,
    patterns: policyPatterns,
    startRedrive: noRedrive,
    ...remoteHost,
  });
  const api = createRemoteApi(remote, apiOptions);
  return Object.assign(harness, {
    server,
    asked,
    remote,
    api,
    call: async (method: string, path: string, call: ApiCall = {}): Promise<Read> => {
      const { body, headers: more = {}, as = 'guest:guest', peer = '127.0.0.1' } = call;
      const headers = {
        ...(as !== '' && { authorization: `Basic ${Buffer.from(as).toString('base64')}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      };
      const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
      const request = new Request(`http://127.0.0.1:8080/api${path}`, { method, headers, body: text });
      const response = await api.fetch(request, incomingOf(`/api${path}`, peer));
      const read = await response.text();
      return { status: response.status, headers: response.headers, body: read === '' ? undefined : JSON.parse(read) };
    },
  });
}

const answerOf = ({ status, headers, body }: Response) => ({
  status,
  headers,
  body: body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() }),
});

/** As the listener passes it to the API. */
const incomingOf = (url: string, remoteAddress: string) => ({ incoming: { url, socket: { remoteAddress } } as never });
