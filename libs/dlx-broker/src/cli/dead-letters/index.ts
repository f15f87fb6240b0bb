import type { Command } from 'commander';
import { asking, type Call, type CommandOutput, type Ended, withServer, withVhost, withWatch } from '../command.js';
import { deleteLetters, exportLetters } from './exports.js';
import { withFilters } from './filter.js';
import { groups, list, show } from './list.js';
import { listRedrives, type Order, orderRedrive, redrive } from './redrive.js';

/** The virtual hosts of commands about all queues. */
const all = 'all';

const orders: Readonly<Record<Order, string>> = {
  pause: 'Pause a redrive.',
  resume: 'Continue a redrive that was paused, or that stopped because too many messages came back.',
  cancel: 'End a redrive. Messages that it has moved stay moved.',
};

/** Adds the commands of `dead-letters` to a program. */
export function addDeadLetters(parent: Command, output: CommandOutput, ended: Ended): void {
  const add = asking(output, ended);
  const command = (name: string, about: string): Command => parent.command(name).description(about);
  const ofQueue = (name: string, about: string): Command => withVhost(command(name, about)).argument('<QUEUE>');
  const chosen = '[IDS...]';
  const these = 'these alone; without any and without a filter, all that are there';

  add(
    withWatch(
      withFilters(withVhost(command('list', 'List what lies in a queue of dead letters, without taking it out.'))),
    )
      .argument('[QUEUE]', 'without it: the queues that get dead letters, of all virtual hosts or of --vhost')
      .option(
        '--by <WHAT>',
        'count instead, by reason, error, fingerprint, queue, first-queue, exchange or routing-key',
      )
      .option('--limit <NUMBER>', 'the most messages or queues, up to 500 (default: 50 messages, 500 queues)'),
    list,
  );
  const grouped = 'Count dead letters by queue, reason and kind of error, over all queues that get dead letters.';
  add(
    withWatch(withFilters(withVhost(command('groups', grouped), all))).argument(
      '[QUEUE]',
      'only what lies in this queue',
    ),
    groups,
  );
  add(ofQueue('show', 'Show one message whole: where it died, and why.').argument('<ID>'), show);
  add(
    withFilters(ofQueue('redrive', 'Send dead letters back to where they were published at first.'))
      .argument(chosen, these)
      .option('--to <EXCHANGE/KEY>', 'to this exchange with this routing key instead')
      .option('--rate <NUMBER>', 'messages a second, 0 for as many as the broker can (default: 50)')
      .option('--limit <NUMBER>', 'the most messages')
      .option('--dry-run', 'move nothing, and show what a redrive would do')
      .option('--no-wait', 'end when the redrive has begun (default: wait for its end, with a progress bar)'),
    redrive,
  );
  add(
    withFilters(ofQueue('export', 'Write messages as lines of JSON with their whole bodies, without taking them out.'))
      .argument(chosen, these)
      .option('--limit <NUMBER>', 'the most messages')
      .option('--output <FILE>', 'write to this file, which only its owner can read'),
    exportLetters,
  );
  add(
    withFilters(ofQueue('delete', 'Delete the messages that a file of export holds. All others stay.'))
      .option('--exported <FILE>', "what 'dlx-broker dead-letters export' wrote; needed")
      .option('--dry-run', 'delete nothing, and show the counts'),
    deleteLetters,
  );
  add(withWatch(withVhost(command('redrives', 'List the running redrives, and the last 100.'), all)), listRedrives);
  for (const [order, about] of Object.entries(orders)) {
    const redriveOf = withServer(command(order, about));
    add(
      redriveOf.argument('<ID>', "of the redrive; 'dlx-broker dead-letters redrives' shows it"),
      (call: Call, id: string) => orderRedrive(call, order as Order, id),
    );
  }
}
