import { shownJson, shownText } from '../../platform/index.js';
import { meantOf } from '../../platform/options/index.js';
import { withApi } from '../with-api.js';
import type { Api, Sent } from '../ctl/api.js';
import { CtlFailure, exit } from '../ctl/exit.js';
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
  withApi('list', flags, output, async (api) => {
    const text = await handlersOf(api);
    output.out(flags.json === true ? shownJson(text) : handlersText(rowsOf(text)));
  });

/** Pauses a handler. @returns the exit code */
export const pause = (handler: string, flags: PauseFlags, output: CommandOutput): Promise<number> =>
  withApi('pause', flags, output, async (api) => {
    const { reason } = flags;
    const body = { ...(reason !== undefined && { reason }) };
    await change(api, 'PUT', handler, { body });
    const ends = "until 'dlx-broker handlers resume', or until its process ends";
    await report(api, handler, flags, output, `is paused ${ends}`);
  });

/** Ends the pause of a handler. @returns the exit code */
export const resume = (handler: string, flags: CommonFlags, output: CommandOutput): Promise<number> =>
  withApi('resume', flags, output, async (api) => {
    const wasPaused = (await rowsNamed(api, handler)).some(({ state }) => state === 'paused');
    await change(api, 'DELETE', handler);
    const states = (await rowsNamed(api, handler)).map(({ state }) => state);
    const circuit = states.find((state) => state === 'open' || state === 'probing');
    const now = circuit === undefined ? '' : `; its circuit is ${circuit}`;
    await report(api, handler, flags, output, `${wasPaused ? 'is not paused any more' : 'was not paused'}${now}`);
  });

/** @throws CtlFailure that says whether the handler or all handlers are missing */
async function change(api: Api, method: 'PUT' | 'DELETE', handler: string, sent?: Sent): Promise<void> {
  try {
    await ask(api, method, ['dlx', 'handlers', handler, 'pause'], `handler '${handler}'`, sent);
  } catch (error) {
    if (!(error instanceof CtlFailure) || error.code !== exit.data) throw error;
    const known = rowsOf(await handlersOf(api));
    if (known.length === 0) throw new CtlFailure(exit.data, `Error: ${noHandlers}`);
    const names = [...new Set(known.map((row) => row.handler))];
    const text = `Error: there is no handler '${handler}' in the application at this address${meantOf(handler, names)}`;
    throw new CtlFailure(exit.data, text);
  }
}

/** What a RabbitMQ, for example, does not have. */
const noList =
  "list of handlers at this address: only the HTTP API of an application has one, option 'listen.http' of embedded(); name that one by --url or DLX_BROKER_URL";

/** A `dlx-broker serve`, or an application without handlers for queues. */
const noHandlers =
  "no handlers at this address: they are known only to the HTTP API of their application, option 'listen.http' of embedded(); name that one by --url or DLX_BROKER_URL";

const handlersOf = async (api: Api): Promise<string> => (await ask(api, 'GET', ['dlx', 'handlers'], noList)).text;

const rowsOf = (text: string): readonly HandlerRow[] => (JSON.parse(text) as { items: readonly HandlerRow[] }).items;

const rowsNamed = async (api: Api, handler: string): Promise<readonly HandlerRow[]> =>
  rowsOf(await handlersOf(api)).filter((row) => row.handler === handler);

/** Writes a line; with --json the rows of the handler, as the HTTP API shows them. */
async function report(
  api: Api,
  handler: string,
  flags: CommonFlags,
  { out }: CommandOutput,
  text: string,
): Promise<void> {
  if (flags.json !== true) return out(shownText(`handler '${handler}' ${text}`));
  out(shownJson(JSON.stringify({ items: await rowsNamed(api, handler) })));
}

/** A line for each handler. */
function handlersText(rows: readonly HandlerRow[]): string {
  if (rows.length === 0) return noHandlers;
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
