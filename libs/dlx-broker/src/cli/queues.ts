import type { Command } from 'commander';
import { shownJson, shownText } from '../platform/index.js';
import {
  asking,
  askOfQueue,
  type Call,
  type CommandOutput,
  type CommonFlags,
  type Ended,
  shownQueue,
  withVhost,
} from './command.js';

interface PauseFlags extends CommonFlags {
  readonly for?: string;
  readonly reason?: string;
}

/** Adds the commands of `queues` to a program. */
export function addQueues(parent: Command, output: CommandOutput, ended: Ended): void {
  const add = asking(output, ended);
  parent.showHelpAfterError("('dlx-broker ctl list_queues' lists queues)");
  const command = (name: string, description: string): Command =>
    withVhost(parent.command(name).description(description)).argument('<QUEUE>');
  add(
    command('pause', 'Stop the deliveries of a queue to all its consumers. The queue still takes messages.')
      .option('--for <TIME>', 'the pause ends by itself after this time, such as 90s, 15m or 1h (default: it stays)')
      .option('--reason <TEXT>', 'shown to users who may read from the queue, and recorded'),
    async (call: Call<PauseFlags>, queue: string) => {
      const { for: time, reason } = call.flags;
      await askOfQueue(call.api, 'PUT', [call.vhost, queue, 'pause'], { body: { for: time, reason } });
      await report(call, queue, `is paused ${time === undefined ? "until 'dlx-broker queues resume'" : `for ${time}`}`);
    },
  );
  add(command('resume', 'End the pause of a queue.'), async (call, queue: string) => {
    await askOfQueue(call.api, 'DELETE', [call.vhost, queue, 'pause']);
    await report(call, queue, 'delivers to its consumers');
  });
}

/** Writes a line; with --json the row of the queue, as the HTTP API shows it. */
async function report({ api, flags, output, vhost }: Call, queue: string, text: string): Promise<void> {
  if (flags.json !== true) return output.out(shownText(`${shownQueue(queue, vhost)} ${text}`));
  output.out(shownJson((await askOfQueue(api, 'GET', [vhost, queue])).text));
}
