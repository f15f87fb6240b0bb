/** The most reasons, and the most levels that are searched: a client decides how large a validated object is. */
const most = 100;
const deepest = 8;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The reasons of an exception besides its message: the response of an HttpException, the error of an RpcException, the fields of a
 * validation. From class-validator's errors only the constraints are taken, because these errors have the validated object as
 * well.
 * @throws what a getter throws
 */
export function reasonsOf(error: unknown): readonly string[] {
  const source = sourceOf(error);
  if (source === undefined) return [];
  const found: string[] = [];
  collect(source, '', found, 0);
  return found;
}

/** The part of an exception that has the reasons: the result of Nest's `getResponse` or `getError`, or a thrown list itself. */
function sourceOf(error: unknown): unknown {
  const { getResponse, getError } = error as { readonly getResponse?: unknown; readonly getError?: unknown };
  if (typeof getResponse === 'function') return getResponse.call(error) as unknown;
  if (typeof getError === 'function') return getError.call(error) as unknown;
  return Array.isArray(error) ? error : undefined;
}

function collect(value: unknown, path: string, found: string[], depth: number): void {
  if (found.length >= most || depth > deepest) return;
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const one of value.slice(0, most)) collect(one, path, found, depth + 1);
  else if (typeof value === 'object' && value !== null) collectFields(value as Fields, path, found, depth);
}

function collectFields(value: Fields, path: string, found: string[], depth: number): void {
  const { property, constraints, children, message, errors } = value;
  if (typeof property === 'string') {
    const at = path === '' ? property : `${path}.${property}`;
    for (const text of Object.values((constraints ?? {}) as Fields)) {
      if (typeof text === 'string') found.push(`${at}: ${text}`);
    }
    return collect(children, at, found, depth + 1);
  }
  collect(message, path, found, depth + 1);
  collect(errors, path, found, depth + 1);
  if (message === undefined && errors === undefined) found.push(JSON.stringify(value) ?? '');
}
