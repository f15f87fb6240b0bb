import type { Command } from 'commander';
import { shownJson } from '../../host/index.js';
import { addressOf } from '../ctl/address.js';
import { Api } from '../ctl/api.js';
import { ask, shownQueue, type CommonFlags, type CommandOutput } from './ask.js';
import { CtlFailure, exit } from '../ctl/exit.js';
import { filterOf, type FilterFlags } from './filter.js';
import { groupsText, lettersText, letterText } from './letters.js';
import { type RedriveFlags, redrive } from './redrive.js';

interface ListFlags extends CommonFlags, FilterFlags {
  readonly by?: string;
  readonly limit: string;
}

/** The dead letters of a queue, or their groups. */
async function list(queue: string, flags: ListFlags, api: Api, { out }: CommandOutput): Promise<void> {
  const path = ['dlx', 'queues', flags.vhost, queue, flags.by === undefined ? 'messages' : 'groups'];
  const { query } = filterOf(flags);
  const asked = flags.by === undefined ? { ...query, page_size: flags.limit } : { ...query, by: flags.by };
  const { body, text } = await ask(api, 'GET', path, shownQueue(queue, flags.vhost), { query: asked });
  if (flags.json === true) return out(shownJson(text));
  out(flags.by === undefined ? lettersText(body) : groupsText(body));
}

async function show(queue: string, id: string, flags: CommonFlags, api: Api, { out }: CommandOutput): Promise<void> {
  const missing = `message ${id} in ${shownQueue(queue, flags.vhost)}; 'dlx-broker dead-letters list' shows the ids`;
  const { body, text } = await ask(api, 'GET', ['dlx', 'queues', flags.vhost, queue, 'messages', id], missing);
  out(flags.json === true ? shownJson(text) : letterText(body));
}

/** Adds `dead-letters list|show|redrive` to a program. */
export function addDeadLetters(parent: Command, output: CommandOutput, ended: (code: number) => void): void {
  const act =
    <F extends CommonFlags>(name: string, work: (flags: F, api: Api) => Promise<void>) =>
    async (flags: F): Promise<void> => {
      try {
        const options = new Map(Object.entries({ url: flags.url, user: flags.user, password: flags.password }));
        const given = new Map([...options].filter((entry): entry is [string, string] => entry[1] !== undefined));
        await work(flags, new Api(addressOf(given, output.env), undefined, name));
        ended(exit.ok);
      } catch (error) {
        if (!(error instanceof CtlFailure)) throw error;
        output.error(error.message);
        ended(error.code);
      }
    };
  const common = (command: Command): Command =>
    command
      .option('-p, --vhost <VHOST>', 'the virtual host', '/')
      .option('--url <URL>', 'the HTTP API (default: DLX_BROKER_URL or http://127.0.0.1:15672)')
      .option('--user <USER>', 'who asks (default: DLX_BROKER_USER)')
      .option('--password <PASSWORD>', 'also as DLX_BROKER_PASSWORD, which no list of processes shows')
      .option('--json', 'answer as the HTTP API does');
  const filters = (command: Command): Command =>
    common(command)
      .option('--reason <REASON>', 'of the latest death: rejected, expired, maxlen or delivery_limit')
      .option('--died-in <QUEUE>', 'the queue in which it died last')
      .option('--first-queue <QUEUE>', 'the queue in which it died first')
      .option('--exchange <EXCHANGE>', 'the exchange it was published to at first')
      .option('--routing-key <KEY>', 'the routing key it was published with at first')
      .option('--header <NAME[=VALUE]>', 'a header it has; may be said several times', (one, more: string[] = []) => [
        ...more,
        one,
      ])
      .option('--error <CLASS>', 'the class or the kind of its error')
      .option('--text <TEXT>', 'a text somewhere in its body')
      .option('--older-than <TIME>', 'how long it is dead at least, such as 90s, 15m, 2h or 7d')
      .option('--younger-than <TIME>', 'how long it is dead at most');
  filters(parent.command('list').description('List what lies in a queue of dead letters, without taking it out.'))
    .argument('<QUEUE>')
    .option('--by <WHAT>', 'count instead, by reason, error, queue, first-queue, exchange or routing-key')
    .option('--limit <NUMBER>', 'at most so many, up to 500', '50')
    .action((queue: string, flags: ListFlags) =>
      act<ListFlags>('list', (f, api) => list(queue, f, api, output))(flags),
    );
  common(parent.command('show').description('Show one message whole: where it died, and why.'))
    .argument('<QUEUE>')
    .argument('<ID>')
    .action((queue: string, id: string, flags: CommonFlags) =>
      act<CommonFlags>('show', (f, api) => show(queue, id, f, api, output))(flags),
    );
  filters(parent.command('redrive').description('Send dead letters back to where they were published at first.'))
    .argument('<QUEUE>')
    .argument('[IDS...]', 'these alone; without any and without a filter, all that are there')
    .option('--to <EXCHANGE/KEY>', 'to this exchange with this routing key instead')
    .option('--rate <NUMBER>', 'messages a second, 0 for as many as the broker can (default: 50)')
    .option('--limit <NUMBER>', 'at most so many')
    .option('--dry-run', 'move nothing: tell what would become of them')
    .action((queue: string, ids: string[], flags: RedriveFlags) =>
      act<RedriveFlags>('redrive', (f, api) => redrive(queue, ids, f, api, output))(flags),
    );
}
