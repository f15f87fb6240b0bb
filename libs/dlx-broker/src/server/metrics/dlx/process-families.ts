import { labelled, type Metric } from '../family.js';
import type { Scrape } from '../scrape.js';

/** What is measured while metrics are on, and the journal. */
export const processFamilies: readonly Metric<Scrape>[] = [
  labelled(
    'dlx_event_loop_lag_seconds',
    'gauge',
    ['quantile'],
    'How late the event loop was, since it was last asked',
    ({ loopDelay }) =>
      loopDelay === undefined
        ? []
        : [
            { labels: ['0.5'], value: loopDelay.median },
            { labels: ['0.99'], value: loopDelay.p99 },
            { labels: ['max'], value: loopDelay.max },
          ],
  ),
  labelled(
    'dlx_journal_fsync_duration_seconds',
    'histogram',
    [],
    'How long a batch of the journal took until the disk had it',
    ({ of: { journal } }) => (journal?.syncs === undefined ? [] : [{ labels: [], value: journal.syncs }]),
  ),
  labelled('dlx_journal_bytes', 'gauge', [], 'Bytes of the journal on disk', ({ of: { journal } }) =>
    journal === undefined ? [] : [{ labels: [], value: journal.bytes }],
  ),
];
