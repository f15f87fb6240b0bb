import { shownJson, shownText } from '../../host/index.js';
import { acting } from '../acting.js';
import type { Api } from '../ctl/api.js';
import { ask, type CommandOutput, type CommonFlags } from '../dead-letters/ask.js';
import { prettyColumns } from '../dead-letters/columns.js';
import { vhostColumn } from '../dead-letters/queues.js';
import { when } from '../dead-letters/shown.js';

export interface PauseFlags extends CommonFlags {
  readonly reason?: string;
}

/** A handler, as the HTTP API shows it. */
interface HandlerRow {
  readonly handler: string;
  readonly vhost: string;
  readonly queue: string;
  readonly state: string;
  readonly circuit: string | null;
  readonly reason: string | null;
  readonly since: number | null;
  readonly next_probe: number | null;
}

/** Lists the handlers. @returns the exit code */
export const list = (flags: CommonFlags, output: CommandOutput): Promise<number> =>
  acting('list', flags, output, async (api) => {
    const text = await handlersOf(api);
    output.out(flags.json === true ? shownJson(text) : handlersText(rowsOf(text)));
  });

/** Pauses a handler. @returns the exit code */
export const pause = (handler: string, flags: PauseFlags, output: CommandOutput): Promise<number> =>
  acting('pause', flags, output, async (api) => {
    const { reason } = flags;
    const body = { ...(reason !== undefined && { reason }) };
    await ask(api, 'PUT', pathOf(handler), shownHandler(handler), { body });
    const ends = "until 'dlx-broker handlers resume', or until its process ends";
    await report(api, handler, flags, output, `is paused ${ends}`);
  });

/** Ends the pause of a handler. @returns the exit code */
export const resume = (handler: string, flags: CommonFlags, output: CommandOutput): Promise<number> =>
  acting('resume', flags, output, async (api) => {
    await ask(api, 'DELETE', pathOf(handler), shownHandler(handler));
    await report(api, handler, flags, output, 'is not paused');
  });

const pathOf = (handler: string): readonly string[] => ['dlx', 'handlers', handler, 'pause'];

const shownHandler = (handler: string): string => `handler '${handler}' in the application at this address`;

/** A RabbitMQ, and an application on one, have no such list. */
const noList = 'list of handlers: the HTTP API has to be that of an application with a broker of its own';

const handlersOf = async (api: Api): Promise<string> => (await ask(api, 'GET', ['dlx', 'handlers'], noList)).text;

const rowsOf = (text: string): readonly HandlerRow[] => (JSON.parse(text) as { items: readonly HandlerRow[] }).items;

/** Writes a line; with --json the rows of the handler, as the HTTP API shows them. */
async function report(
  api: Api,
  handler: string,
  flags: CommonFlags,
  { out }: CommandOutput,
  text: string,
): Promise<void> {
  if (flags.json !== true) return out(shownText(`handler '${handler}' ${text}`));
  const items = rowsOf(await handlersOf(api)).filter((row) => row.handler === handler);
  out(shownJson(JSON.stringify({ items })));
}

/** A line for each handler. */
function handlersText(rows: readonly HandlerRow[]): string {
  if (rows.length === 0) return 'no handlers: the server runs without an application';
  const vhost = vhostColumn(rows);
  const head = [...vhost.map(() => 'vhost'), 'handler', 'queue', 'state', 'circuit', 'since', 'next probe', 'reason'];
  const cells = rows.map((row) => [
    ...vhost.map((of) => of(row)),
    row.handler,
    row.queue,
    row.state,
    row.circuit ?? '',
    when(row.since),
    when(row.next_probe),
    row.reason ?? '',
  ]);
  return prettyColumns(head, cells);
}
