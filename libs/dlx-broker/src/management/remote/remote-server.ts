/** A request to the management API of a server. */
export interface ServerRequest {
  readonly method: string;
  /** With its query, encoded as it is to be sent: `/api/queues/%2F?page=1`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Milliseconds until the whole answer must be there. Default: no limit, because an answer may be a stream. */
  readonly within?: number | undefined;
  /** Aborted when the answer is not needed any more. */
  readonly signal?: AbortSignal | undefined;
}

/** The beginning of an answer. Its body is read as it comes. */
export interface ServerAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;
}

/** The management API of the server of an application. Its address is part of the options, and of no request. */
export interface RemoteServer {
  /** `http://host:15672`, without a user. */
  readonly base: string;
  /** @throws an error of the system, or LateAnswer; redirects are not followed */
  send(request: ServerRequest): Promise<ServerAnswer>;
}
