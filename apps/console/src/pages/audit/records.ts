import type { RedriveGroup } from '../../api/types';
import { subjectOf } from '../../letters/words';

/** A record of `GET /api/dlx/audit`. `time` is milliseconds since 1970. */
export interface AuditRecord {
  readonly number: number;
  readonly time: number;
  readonly user: string;
  /** The address of the client; empty for an action of the broker. */
  readonly from: string;
  readonly action: string;
  readonly names: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Actions in words. Others are shown as method and path. */
const known: readonly (readonly [action: RegExp, words: string])[] = [
  [/^POST \/api\/dlx\/redrives$/, 'redrive'],
  [/^POST \/api\/dlx\/redrives\/:id\/pause$/, 'pause a redrive'],
  [/^POST \/api\/dlx\/redrives\/:id\/resume$/, 'resume a redrive'],
  [/^DELETE \/api\/dlx\/redrives\/:id$/, 'cancel a redrive'],
  [/^DELETE \/api\/dlx\/queues\/:vhost\/:name\/messages\/:id$/, 'delete a message'],
  [/^DELETE \/api\/dlx\/queues\/:vhost\/:name\/messages$/, 'delete messages'],
  [/^POST \/api\/dlx\/queues\/:vhost\/:name\/messages\/:id\/edit$/, 'edit and redrive a message'],
  [/^DELETE \/api\/queues\/:vhost\/:name\/contents$/, 'purge a queue'],
  [/^POST \/api\/queues\/:vhost\/:name\/get$/, 'get messages'],
  [/^POST \/api\/exchanges\/:vhost\/:name\/publish$/, 'publish a message'],
  [/^PUT \/api\/([a-z]+(?:-[a-z]+)*)\/.*$/, 'set $1'],
  [/^DELETE \/api\/([a-z]+(?:-[a-z]+)*)\/.*$/, 'delete $1'],
];

/** An action in words. */
export function actionOf({ action, details }: AuditRecord): string {
  const [pattern, words] = known.find(([each]) => each.test(action)) ?? [];
  const text = pattern === undefined || words === undefined ? action : action.replace(pattern, words);
  return details?.['dry_run'] === true ? `${text}, dry run` : text;
}

/** The details that other columns show. */
const elsewhere: ReadonlySet<string> = new Set(['vhost', 'queue', 'dry_run', 'task']);

/** The details of a record in words, without empty ones. */
export function detailsOf({ details = {} }: AuditRecord): readonly (readonly [string, string])[] {
  return Object.entries(details)
    .filter(([key, value]) => !elsewhere.has(key) && value !== null && value !== undefined && !isNoMore(key, value))
    .map(([key, value]) => [key, wordsOf(key, value)]);
}

/** How many further groups there are, if there are none. */
const isNoMore = (key: string, value: unknown): boolean => key === 'more_groups' && value === 0;

function wordsOf(key: string, value: unknown): string {
  if (key === 'filter') return subjectOf({ filter: value as Record<string, unknown>, ids: null });
  if (key === 'groups' && Array.isArray(value)) return value.map(groupOf).join('; ');
  if (key.startsWith('payload_sha256') && typeof value === 'string') return `${value.slice(0, 12)}…`;
  if (key === 'rate' && value === 0) return 'full';
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name.replaceAll('_', ' ')} ${typeof each === 'string' ? each : JSON.stringify(each)}`)
    .join(', ');
}

/** A group of a redrive in words. */
function groupOf(group: unknown): string {
  const { queue, filter, ids } = group as Pick<RedriveGroup, 'queue' | 'filter' | 'ids'>;
  return `${queue}: ${subjectOf({ filter, ids })}`;
}
