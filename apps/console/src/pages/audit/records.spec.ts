import { expect, it } from 'vitest';
import { actionOf, type AuditRecord, detailsOf } from './records';

const record = (action: string, details?: Record<string, unknown>): AuditRecord => ({
  number: 1,
  time: 0,
  user: 'guest',
  from: '',
  action,
  names: {},
  ...(details && { details }),
});

it('says actions in words', () => {
  expect(
    [
      record('POST /api/dlx/redrives', { dry_run: true }),
      record('DELETE /api/queues/:vhost/:name/contents'),
      record('PUT /api/operator-policies/:vhost/:name'),
      record('redrive done'),
      record('POST /api/definitions'),
    ].map(actionOf),
  ).toEqual(['redrive, dry run', 'purge a queue', 'set operator-policies', 'redrive done', 'POST /api/definitions']);
});

it('shows details without empty ones', () => {
  expect(
    detailsOf(
      record('x', {
        vhost: '/',
        filter: { error: 'E' },
        to: null,
        rate: 0,
        destinations: ['a', 'b'],
        counts: { matched: 3 },
        payload_sha256: 'a'.repeat(64),
        groups: [
          { vhost: '/', queue: 'q', filter: { error: 'E' }, ids: null },
          { vhost: '/', queue: 'r', filter: null, ids: 2 },
        ],
        more_groups: 0,
      }),
    ),
  ).toEqual([
    ['filter', 'error E'],
    ['rate', 'full'],
    ['destinations', 'a, b'],
    ['counts', 'matched 3'],
    ['payload_sha256', 'aaaaaaaaaaaa…'],
    ['groups', 'q: error E; r: 2 chosen messages'],
  ]);
});
