import { shownJson, shownText } from '../../host/index.js';
import { withApi } from '../with-api.js';
import type { Api } from '../ctl/api.js';
import { ask, type CommandOutput, type CommonFlags, shownQueue, vhostOf } from '../dead-letters/ask.js';

export interface PauseFlags extends CommonFlags {
  readonly for?: string;
  readonly reason?: string;
}

/** Pauses a queue. @returns the exit code */
export const pause = (queue: string, flags: PauseFlags, output: CommandOutput): Promise<number> =>
  withApi('pause', flags, output, async (api) => {
    const { for: time, reason } = flags;
    const body = { ...(time !== undefined && { for: time }), ...(reason !== undefined && { reason }) };
    await ask(api, 'PUT', pathOf(queue, flags, 'pause'), shownQueue(queue, vhostOf(flags)), { body });
    const ends = time === undefined ? "until 'dlx-broker queues resume'" : `for ${time}`;
    await report(api, queue, flags, output, `is paused ${ends}`);
  });

/** Ends the pause of a queue. @returns the exit code */
export const resume = (queue: string, flags: PauseFlags, output: CommandOutput): Promise<number> =>
  withApi('resume', flags, output, async (api) => {
    await ask(api, 'DELETE', pathOf(queue, flags, 'pause'), shownQueue(queue, vhostOf(flags)));
    await report(api, queue, flags, output, 'delivers to its consumers');
  });

const pathOf = (queue: string, flags: CommonFlags, ...more: readonly string[]): readonly string[] => [
  'dlx',
  'queues',
  vhostOf(flags),
  queue,
  ...more,
];

/** Writes a line; with --json the row of the queue, as the HTTP API shows it. */
async function report(api: Api, queue: string, flags: PauseFlags, { out }: CommandOutput, text: string): Promise<void> {
  const shown = shownQueue(queue, vhostOf(flags));
  if (flags.json !== true) return out(shownText(`${shown} ${text}`));
  out(shownJson((await ask(api, 'GET', pathOf(queue, flags), shown)).text));
}
