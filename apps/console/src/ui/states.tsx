import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/http';
import type { Resource } from '../api/use-resource';

/** A centred note in place of a list or a page: nothing there, failed, not permitted. */
export function Notice(props: {
  title: string;
  kind?: 'empty' | 'failed' | 'forbidden';
  children?: ComponentChildren;
}) {
  const { title, kind = 'empty', children } = props;
  return (
    <div class={`notice notice-${kind}`} role={kind === 'failed' ? 'alert' : 'status'}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The place of data that have not arrived yet. */
export function Loading({ lines = 5 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="skeleton" />
      ))}
    </div>
  );
}

/** What a status says. The application answers 502 and 504 for a server that does not answer. */
const titles: Readonly<Record<number, string>> = {
  0: 'The broker does not answer',
  404: 'Not found',
  501: 'Not possible with this server',
  502: 'The server cannot be shown',
  504: 'The server does not answer',
};

/** Why a request failed, and a button that repeats it. */
export function Failure({ error, retry, what }: { error: ApiError; retry?: () => void; what?: string }) {
  if (error.isForbidden) {
    return (
      <Notice kind="forbidden" title={`No permission${what === undefined ? '' : ` to see ${what}`}`}>
        <p>{error.message}</p>
        <p>Ask an administrator for the right, or sign in as another user.</p>
      </Notice>
    );
  }
  const title = titles[error.status] ?? 'Failed';
  return (
    <Notice kind="failed" title={title}>
      <p>{error.message}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </Notice>
  );
}

/** Shows a resource in the state that it is in: loading, failed, or its data. Old data stay below a failure. */
export function Loaded<T>(props: {
  of: Resource<T>;
  what?: string;
  lines?: number;
  children: (data: T) => ComponentChildren;
}) {
  const { of, what, lines, children } = props;
  const { data, error, reload } = of;
  if (data === undefined) {
    if (error === undefined) return <Loading {...(lines !== undefined && { lines })} />;
    return <Failure error={error} retry={reload} {...(what !== undefined && { what })} />;
  }
  return (
    <>
      {error !== undefined && (
        <p class="banner banner-failed" role="alert">
          Not up to date: {error.message}{' '}
          <button type="button" class="link" onClick={reload}>
            Try again
          </button>
        </p>
      )}
      {children(data)}
    </>
  );
}

/** Why the last action failed; nothing if it did not. */
export function ProblemBanner({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="banner banner-failed" role="alert">
      {text}
    </p>
  );
}
