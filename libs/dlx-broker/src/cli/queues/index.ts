import type { Command } from 'commander';
import type { CommandOutput } from '../dead-letters/ask.js';
import { withVhost } from '../dead-letters/options.js';
import type { PauseFlags } from './pause.js';

/** Adds the commands of `queues` to a program. @param ended gets the exit code */
export function addQueues(parent: Command, output: CommandOutput, ended: (code: number) => void): void {
  parent.showHelpAfterError("('dlx-broker ctl list_queues' lists queues)");
  const command = (name: string, description: string): Command =>
    withVhost(parent.command(name).description(description)).argument('<QUEUE>');

  command('pause', 'Stop the deliveries of a queue to all its consumers. The queue still takes messages.')
    .option('--for <TIME>', 'the pause ends by itself after this time, such as 90s, 15m or 1h (default: it stays)')
    .option('--reason <TEXT>', 'shown to users who may read from the queue, and recorded')
    .action(async (queue: string, flags: PauseFlags) => {
      const { pause } = await import('./pause.js');
      ended(await pause(queue, flags, output));
    });
  command('resume', 'End the pause of a queue.').action(async (queue: string, flags: PauseFlags) => {
    const { resume } = await import('./pause.js');
    ended(await resume(queue, flags, output));
  });
}
