import { computed, signal } from '@preact/signals';

/** An address of the console: the decoded segments of the path, and the query. */
export interface Address {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** Reads the part of an address after `#`. Segments that are not valid percent-encoding are kept as they are. */
export function parseHash(hash: string): Address {
  const text = hash.replace(/^#?\/?/, '');
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  return {
    segments: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Values of a query. A value of undefined, null, false or '' is left out. */
export type QueryValues = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The hash of an address, from names that may contain any character. */
export function href(segments: readonly string[], query: QueryValues | URLSearchParams = {}): string {
  const values = query instanceof URLSearchParams ? query : new URLSearchParams();
  if (!(query instanceof URLSearchParams)) {
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null && value !== false && value !== '') values.set(name, String(value));
    }
  }
  const text = values.toString();
  return `#/${segments.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => (hash.value = location.hash));

/** The address that the browser shows. */
export const address = computed(() => parseHash(hash.value));

/** Opens an address. With `replace` the browser's Back button skips the present one. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, '', to);
    hash.value = to;
  } else {
    location.hash = to;
  }
}

/** Changes the filter or the order of a list, and begins at its first page. */
export const changeList = (changes: QueryValues): void => setQuery({ page: undefined, cursor: undefined, ...changes });

/** Changes values of the query of the present address. Filters and sorting do this, so that each view has a permalink. */
export function setQuery(changes: QueryValues, options = { replace: true }): void {
  const { segments, query } = address.value;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === false || value === '') next.delete(name);
    else next.set(name, String(value));
  }
  navigate(href(segments, next), options);
}
