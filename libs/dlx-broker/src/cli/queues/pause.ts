import { shownJson, shownText } from '../../platform/index.js';
import { withApi } from '../with-api.js';
import type { Api } from '../ctl/api.js';
import { askOfQueue } from '../dead-letters/ask-of-queue.js';
import { type CommandOutput, type CommonFlags, shownQueue, vhostOf } from '../dead-letters/ask.js';

export interface PauseFlags extends CommonFlags {
  readonly for?: string;
  readonly reason?: string;
}

/** Pauses a queue. @returns the exit code */
export const pause = (queue: string, flags: PauseFlags, output: CommandOutput): Promise<number> =>
  withApi('pause', flags, output, async (api) => {
    const { for: time, reason } = flags;
    const body = { ...(time !== undefined && { for: time }), ...(reason !== undefined && { reason }) };
    await askOfQueue(api, 'PUT', [vhostOf(flags), queue, 'pause'], { body });
    const ends = time === undefined ? "until 'dlx-broker queues resume'" : `for ${time}`;
    await report(api, queue, flags, output, `is paused ${ends}`);
  });

/** Ends the pause of a queue. @returns the exit code */
export const resume = (queue: string, flags: PauseFlags, output: CommandOutput): Promise<number> =>
  withApi('resume', flags, output, async (api) => {
    await askOfQueue(api, 'DELETE', [vhostOf(flags), queue, 'pause']);
    await report(api, queue, flags, output, 'delivers to its consumers');
  });

/** Writes a line; with --json the row of the queue, as the HTTP API shows it. */
async function report(api: Api, queue: string, flags: PauseFlags, { out }: CommandOutput, text: string): Promise<void> {
  if (flags.json !== true) return out(shownText(`${shownQueue(queue, vhostOf(flags))} ${text}`));
  out(shownJson((await askOfQueue(api, 'GET', [vhostOf(flags), queue])).text));
}
