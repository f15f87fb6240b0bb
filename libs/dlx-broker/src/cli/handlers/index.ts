import type { Command } from 'commander';
import type { CommandOutput, CommonFlags } from '../dead-letters/ask.js';
import { withServer } from '../dead-letters/options.js';
import type { PauseFlags } from './handlers.js';

/** Adds the commands of `handlers` to a program. @param ended gets the exit code */
export function addHandlers(parent: Command, output: CommandOutput, ended: (code: number) => void): void {
  const command = (name: string, description: string): Command =>
    withServer(parent.command(name).description(description));

  command('list', 'List the handlers of an application, and whether they get messages.').action(
    async (flags: CommonFlags) => {
      const { list } = await import('./handlers.js');
      ended(await list(flags, output));
    },
  );
  command('pause', 'Stop the deliveries to a handler, and to those of its queue, in its process.')
    .argument('<HANDLER>', 'class and method, such as Payments.pay')
    .option('--reason <TEXT>', 'shown to users who may read from the queue of the handler, and recorded')
    .action(async (handler: string, flags: PauseFlags) => {
      const { pause } = await import('./handlers.js');
      ended(await pause(handler, flags, output));
    });
  command('resume', 'End the pause of a handler.')
    .argument('<HANDLER>', 'class and method, such as Payments.pay')
    .action(async (handler: string, flags: CommonFlags) => {
      const { resume } = await import('./handlers.js');
      ended(await resume(handler, flags, output));
    });
}
