import { badRequest } from '../http/reply.js';

/** The parts of a path between its slashes, still encoded; a slash at the end is ignored. */
export function partsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(1);
  if (parts.length > 1 && parts.at(-1) === '') parts.pop();
  return parts;
}

/** `%2F` is the slash of a name. @throws Problem 400 when it is no UTF-8 */
function decodeName(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest('invalid percent-encoding in the path');
  }
}

/** The names in a path, by the placeholders of its resource: `/queues/:vhost/:name`. */
export function namesIn(template: string, path: string): Readonly<Record<string, string>> {
  const names: Record<string, string> = Object.create(null) as Record<string, string>;
  const parts = partsOf(path);
  for (const [index, name] of partsOf(template).entries()) {
    if (name.startsWith(':')) names[name.slice(1)] = decodeName(parts[index] ?? '');
  }
  return names;
}
