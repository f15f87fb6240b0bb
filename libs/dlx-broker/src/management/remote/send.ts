import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { LateAnswer } from '../../host/index.js';
import type { RemoteServer, ServerAnswer, ServerRequest } from './remote-server.js';

/** How a server is reached. */
export interface ServerPlace {
  /** `http://host:15672`, without a user. */
  readonly base: string;
  /** Certificates of authorities to trust, in PEM. Default: those that Node trusts. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[] | undefined;
  /** Ends all requests when it is aborted. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** The milliseconds until the headers of an answer must be there, and the longest pause in a body that has an end. */
const patience = 30_000;

/** The milliseconds between two parts of a stream of events, which has a comment at least each 15 seconds. */
const patienceWithEvents = 120_000;

/** The management API at an address. */
export function serverAt({ base, ca, signal: ended }: ServerPlace): RemoteServer {
  const { protocol, hostname, port, pathname } = new URL(base);
  const place = {
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    ...(ca !== undefined && { ca: ca as string }),
    agent: false as const,
  };
  const prefix = pathname.replace(/\/+$/, '');
  return {
    base,
    async send({ method, path, headers, body: sent, within, signal }: ServerRequest): Promise<ServerAnswer> {
      const { request } = await (protocol === 'https:' ? import('node:https') : import('node:http'));
      return new Promise((resolve, reject) => {
        const length = sent === undefined ? {} : { 'content-length': String(sent.length) };
        const asked = request({ ...place, method, path: prefix + path, headers: { ...headers, ...length } });
        let body: IncomingMessage | undefined;
        const fail = (error: Error): void => void (body ?? asked).destroy(error);
        const end = (): void => fail(new Error('the client has gone'));
        const signals = [signal, ended].filter((each) => each !== undefined);
        const late = (): void => fail(new LateAnswer(`no whole answer within ${within} ms`));
        const limit = within === undefined ? undefined : setTimeout(late, within).unref();
        asked.setTimeout(patience, () => asked.destroy(new LateAnswer(`no answer within ${patience} ms`)));
        asked.on('error', (error: Error & { readonly errors?: readonly Error[] }) =>
          reject(error.errors?.[0] ?? error),
        );
        asked.on('close', () => {
          clearTimeout(limit);
          for (const each of signals) each.removeEventListener('abort', end);
        });
        asked.on('response', (response) => resolve(answerOf((body = response))));
        for (const each of signals) each.addEventListener('abort', end);
        if (signals.some(({ aborted }) => aborted)) end();
        else asked.end(sent);
      });
    },
  };
}

function answerOf(response: IncomingMessage): ServerAnswer {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  const isEvents = headers.get('content-type')?.startsWith('text/event-stream') === true;
  response.setTimeout(isEvents ? patienceWithEvents : patience, () =>
    response.destroy(new LateAnswer('the answer stopped')),
  );
  const body = Readable.toWeb(response) as unknown as ReadableStream<Uint8Array>;
  return { status: response.statusCode ?? 0, headers, body };
}
