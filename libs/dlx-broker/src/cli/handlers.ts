import type { Command } from 'commander';
import { shownJson, shownText } from '../platform/index.js';
import { didYouMean } from '../platform/options/index.js';
import type { Api, Sent } from './api.js';
import { CommandError, exit } from './command-error.js';
import { ask, asking, type Call, type CommandOutput, type CommonFlags, type Ended, withServer } from './command.js';
import { prettyColumns, vhostColumn, when } from './text.js';

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

/** Adds the commands of `handlers` to a program. */
export function addHandlers(parent: Command, output: CommandOutput, ended: Ended): void {
  const add = asking(output, ended);
  const command = (name: string, description: string): Command =>
    withServer(parent.command(name).description(description));
  const named = (name: string, description: string): Command =>
    command(name, description).argument('<HANDLER>', 'class and method, such as Payments.pay');
  const list = command('list', 'List the handlers of an application, and whether they get messages.');
  add(list, async ({ api, flags }) => {
    const text = await handlersOf(api);
    output.out(flags.json === true ? shownJson(text) : handlersText(rowsOf(text)));
  });
  add(
    named('pause', 'Stop the deliveries to a handler, and to those of its queue, in its process.').option(
      '--reason <TEXT>',
      'shown to users who may read from the queue of the handler, and recorded',
    ),
    async (call: Call<CommonFlags & { readonly reason?: string }>, handler: string) => {
      await change(call.api, 'PUT', handler, { body: { reason: call.flags.reason } });
      await report(call, handler, "is paused until 'dlx-broker handlers resume', or until its process ends");
    },
  );
  add(named('resume', 'End the pause of a handler.'), async (call, handler: string) => {
    const wasPaused = (await rowsNamed(call.api, handler)).some(({ state }) => state === 'paused');
    await change(call.api, 'DELETE', handler);
    const circuit = (await rowsNamed(call.api, handler)).find(({ state }) => state === 'open' || state === 'probing');
    const now = circuit === undefined ? '' : `; its circuit is ${circuit.state}`;
    await report(call, handler, `${wasPaused ? 'is not paused any more' : 'was not paused'}${now}`);
  });
}

/** @throws CommandError that says whether the handler or all handlers are missing */
async function change(api: Api, method: 'PUT' | 'DELETE', handler: string, sent?: Sent): Promise<void> {
  try {
    await ask(api, method, ['dlx', 'handlers', handler, 'pause'], `handler '${handler}'`, sent);
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== exit.data) throw error;
    const known = rowsOf(await handlersOf(api));
    if (known.length === 0) throw new CommandError(`${noHandlers}`, exit.data);
    const names = [...new Set(known.map((row) => row.handler))];
    const text = `there is no handler '${handler}' in the application at this address${didYouMean(handler, names)}`;
    throw new CommandError(text, exit.data);
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
async function report({ api, flags, output }: Call, handler: string, text: string): Promise<void> {
  if (flags.json !== true) return output.out(shownText(`handler '${handler}' ${text}`));
  output.out(shownJson(JSON.stringify({ items: await rowsNamed(api, handler) })));
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
