/** `as`: the user of the request; default `guest`. */
export interface Turn {
  readonly as?: string;
  readonly method: string;
  /** Below `/api`. `{v}` is a virtual host of the conversation, `{u}` what its users' names begin with. */
  readonly path: string;
  /** Sent as it is when it is a text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The list comes in whatever order RabbitMQ keeps it in. */
  readonly isUnordered?: true;
}

export const turn = (method: string, path: string, body?: unknown, more: Partial<Turn> = {}): Turn => ({
  method,
  path,
  ...(body !== undefined && { body }),
  ...more,
});
export const get = (path: string, as?: string): Turn => turn('GET', path, undefined, as === undefined ? {} : { as });
export const put = (path: string, body?: unknown, as?: string): Turn =>
  turn('PUT', path, body, as === undefined ? {} : { as });
export const remove = (path: string, as?: string): Turn =>
  turn('DELETE', path, undefined, as === undefined ? {} : { as });

export const everything = { configure: '.*', write: '.*', read: '.*' };
export const nothing = { configure: '', write: '', read: '' };
export const tags = ['none', 'management', 'policymaker', 'monitoring', 'administrator'];
export const policy = { pattern: '^a', definition: { 'max-length': 5 } };
