import { shownJson } from '../../platform/index.js';
import type { Api } from '../ctl/api.js';
import { ask, type CommandOutput, type CommonFlags } from './ask.js';
import { prettyColumns } from './columns.js';
import { shareOf, type Progress } from './progress.js';
import { vhostColumn } from './queues.js';
import { oneLine, when } from './shown.js';
import { watching, type WatchFlags } from './watch.js';

interface RedriveRow extends Progress {
  readonly id: string;
  /** Null for a redrive of groups that do not share them. */
  readonly vhost: string | null;
  readonly queue: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly by: string;
  readonly dry_run: boolean;
  readonly started_at: number;
  readonly came_back: number;
}

export const noRedrive = (id: string): string =>
  `redrive '${id}': 'dlx-broker dead-letters redrives' shows the running ones and the last 100`;

function redrivesText(body: unknown): string {
  const all = body as readonly RedriveRow[];
  const vhost = vhostColumn(all);
  const rows = all.map((row) => [
    row.id,
    ...vhost.map((of) => of(row)),
    row.queue ?? 'several',
    row.dry_run ? `${row.state}, dry run` : row.state,
    `${Math.floor(shareOf(row) * 100)} %`,
    String(row.moved),
    String(row.left),
    String(row.came_back),
    row.by,
    when(row.started_at),
    oneLine(row.reason ?? '', 60),
  ]);
  const numbers = ['done', 'moved', 'left', 'came back'];
  const head = ['id', ...vhost.map(() => 'vhost'), 'queue', 'state', ...numbers, 'by', 'started', 'reason'];
  return prettyColumns(head, rows);
}

/** The running redrives, and the last ones. */
export function listRedrives(flags: CommonFlags & WatchFlags, api: Api, output: CommandOutput): Promise<void> {
  const once = async (): Promise<string> => {
    const { body, text } = await ask(api, 'GET', ['dlx', 'redrives'], undefined);
    const seen = (body as readonly RedriveRow[]).filter(({ vhost }) => vhost === (flags.vhost ?? vhost));
    return flags.json === true
      ? shownJson(flags.vhost === undefined ? text : JSON.stringify(seen))
      : redrivesText(seen);
  };
  return watching(flags, once, output);
}

export type Order = 'pause' | 'resume' | 'cancel';

/** Pauses, resumes or cancels a redrive. Messages that moved stay moved. */
export async function orderRedrive(
  order: Order,
  id: string,
  flags: CommonFlags,
  api: Api,
  { out }: CommandOutput,
): Promise<void> {
  const path = ['dlx', 'redrives', id];
  if (order === 'cancel') await ask(api, 'DELETE', path, noRedrive(id));
  else await ask(api, 'POST', [...path, order], noRedrive(id));
  const { body, text } = await ask(api, 'GET', path, noRedrive(id));
  if (flags.json === true) return out(shownJson(text));
  const { state, moved } = body as RedriveRow;
  out(`redrive ${id} is ${state}, ${moved} moved`);
}
