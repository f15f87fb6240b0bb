import type { Command } from 'commander';
import type { Api } from '../ctl/api.js';
import { withApi } from '../with-api.js';
import type { CommandOutput, CommonFlags } from './ask.js';
import { deleteLetters, type DeleteFlags } from './delete.js';
import { exportLetters, type ExportFlags } from './export.js';
import { groups, list, type ListFlags, show } from './list.js';
import { withFilters, withServer, withVhost, withWatch } from './options.js';
import { redrive, type RedriveFlags } from './redrive.js';
import { listRedrives, type Order, orderRedrive } from './redrive.js';
import type { WatchFlags } from './watch.js';

/** The virtual hosts of commands about all queues. */
const all = 'all';

const orders: Readonly<Record<Order, string>> = {
  pause: 'Pause a redrive.',
  resume: 'Continue a redrive that was paused, or that stopped because too many messages came back.',
  cancel: 'End a redrive. Messages that it has moved stay moved.',
};

/** Adds the commands of `dead-letters` to a program. @param ended gets the exit code */
export function addDeadLetters(parent: Command, output: CommandOutput, ended: (code: number) => void): void {
  const act = async <F extends CommonFlags>(
    name: string,
    flags: F,
    work: (api: Api) => Promise<number | void>,
  ): Promise<void> => {
    ended(await withApi(name, flags, output, work));
  };
  const command = (name: string, description: string): Command => parent.command(name).description(description);

  withWatch(
    withFilters(withVhost(command('list', 'List what lies in a queue of dead letters, without taking it out.'))),
  )
    .argument('[QUEUE]', 'without it: the queues that get dead letters, of all virtual hosts or of --vhost')
    .option('--by <WHAT>', 'count instead, by reason, error, fingerprint, queue, first-queue, exchange or routing-key')
    .option('--limit <NUMBER>', 'the most messages or queues, up to 500 (default: 50 messages, 500 queues)')
    .action((queue: string | undefined, flags: ListFlags) =>
      act('list', flags, (api) => list(queue, flags, api, output)),
    );
  const grouped = 'Count dead letters by queue, reason and kind of error, over all queues that get dead letters.';
  withWatch(withFilters(withVhost(command('groups', grouped), all)))
    .argument('[QUEUE]', 'only what lies in this queue')
    .action((queue: string | undefined, flags: ListFlags) =>
      act('groups', flags, (api) => groups(queue, flags, api, output)),
    );
  withVhost(command('show', 'Show one message whole: where it died, and why.'))
    .argument('<QUEUE>')
    .argument('<ID>')
    .action((queue: string, id: string, flags: CommonFlags) =>
      act('show', flags, (api) => show(queue, id, flags, api, output)),
    );
  withFilters(withVhost(command('redrive', 'Send dead letters back to where they were published at first.')))
    .argument('<QUEUE>')
    .argument('[IDS...]', 'these alone; without any and without a filter, all that are there')
    .option('--to <EXCHANGE/KEY>', 'to this exchange with this routing key instead')
    .option('--rate <NUMBER>', 'messages a second, 0 for as many as the broker can (default: 50)')
    .option('--limit <NUMBER>', 'the most messages')
    .option('--dry-run', 'move nothing, and show what a redrive would do')
    .option('--no-wait', 'end when the redrive has begun (default: wait for its end, with a progress bar)')
    .action((queue: string, ids: string[], flags: RedriveFlags) =>
      act('redrive', flags, (api) => redrive(queue, ids, flags, api, output)),
    );
  const exported = 'Write messages as lines of JSON with their whole bodies, without taking them out.';
  withFilters(withVhost(command('export', exported)))
    .argument('<QUEUE>')
    .argument('[IDS...]', 'these alone; without any and without a filter, all that are there')
    .option('--limit <NUMBER>', 'the most messages')
    .option('--output <FILE>', 'write to this file, which only its owner can read')
    .action((queue: string, ids: string[], flags: ExportFlags) =>
      act('export', flags, (api) => exportLetters(queue, ids, flags, api, output)),
    );
  const deleted = 'Delete the messages that a file of export holds. All others stay.';
  withFilters(withVhost(command('delete', deleted)))
    .argument('<QUEUE>')
    .option('--exported <FILE>', "what 'dlx-broker dead-letters export' wrote; needed")
    .option('--dry-run', 'delete nothing, and show the counts')
    .action((queue: string, flags: DeleteFlags) =>
      act('delete', flags, (api) => deleteLetters(queue, flags, api, output)),
    );
  withWatch(withVhost(command('redrives', 'List the running redrives, and the last 100.'), all)).action(
    (flags: CommonFlags & WatchFlags) => act('redrives', flags, (api) => listRedrives(flags, api, output)),
  );
  for (const [order, description] of Object.entries(orders)) {
    withServer(command(order, description))
      .argument('<ID>', "of the redrive; 'dlx-broker dead-letters redrives' shows it")
      .action((id: string, flags: CommonFlags) =>
        act(order, flags, (api) => orderRedrive(order as Order, id, flags, api, output)),
      );
  }
}
