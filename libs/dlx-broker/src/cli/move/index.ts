import { shownText } from '../../host/index.js';
import { exit } from '../ctl/exit.js';
import type { CommandOutput } from '../dead-letters/ask.js';
import { Refusal } from '../refusal.js';
import { directorySource, directoryTarget } from './directory.js';
import type { Source, Target } from './ends.js';
import { MoveFailure } from './ends.js';
import { type MoveOptions, Mover, type Outcome } from './mover.js';
import { isSamePlace, type Place, placeOf, shownPlace } from './places.js';

export interface MoveFlags {
  readonly from?: string;
  readonly to?: string;
  readonly queue: string;
  readonly toQueue?: string;
  /** Of data directories; a URL says its own. */
  readonly vhost?: string;
  readonly limit?: string;
  readonly rate?: string;
  readonly stripDeaths?: true;
}

/** Messages that are named one by one. */
const mostNames = 1_000;

/** Milliseconds between lines of progress. */
const progressInterval = 1_000;

/**
 * Moves messages, and reports progress and warnings on standard error.
 * @param interrupted calls back when the command has to end. Messages on their way still arrive
 * @returns the exit code: 0 when the source is empty or the limit reached @throws Refusal, StoreError before anything moved
 */
export async function move(
  flags: MoveFlags,
  { env, error }: Pick<CommandOutput, 'env' | 'error'>,
  interrupted: (stop: () => void) => void = () => undefined,
): Promise<number> {
  const from = placeOf(flags.from ?? env['DLX_BROKER_FROM'], 'from', flags.queue, flags.vhost);
  const to = placeOf(flags.to ?? env['DLX_BROKER_TO'], 'to', flags.toQueue ?? flags.queue, flags.vhost);
  if (isSamePlace(from, to)) throw new Refusal(`--from and --to are the same ${shownPlace(from)}`);
  const options = optionsOf(flags);
  const note = (line: string): void => error(`dlx-broker: ${shownText(line)}`);
  const target = await targetAt(to, note);
  let source: Source | undefined;
  let progress: NodeJS.Timeout | undefined;
  let outcome: Outcome | undefined;
  let late: MoveFailure | undefined;
  let isStopped = false;
  try {
    source = await sourceAt(from, note);
    const mover = new Mover(source, target, options);
    interrupted(() => {
      isStopped = true;
      mover.stop();
    });
    let before = 0;
    progress = setInterval(() => {
      note(`${mover.moved} moved, ${mover.moved - before}/s`);
      before = mover.moved;
    }, progressInterval);
    outcome = await mover.run();
  } finally {
    clearInterval(progress);
    const closed = [source?.close(), target.close()].map((each) => each?.catch(asFailure));
    for (const failure of await Promise.all(closed)) late ??= failure ?? undefined;
  }
  report(outcome, from, to, note);
  const failure = outcome.failure ?? late;
  if (failure !== undefined) note(`${failure.message}. Run the same command again to go on`);
  if (failure !== undefined) return failure.kind === 'impossible' ? exit.data : exit.temporary;
  return isStopped ? exit.temporary : exit.ok;
}

const asFailure = (error: unknown): MoveFailure =>
  error instanceof MoveFailure ? error : new MoveFailure('impossible', (error as Error).message, { cause: error });

function report({ moved, repeated, inDoubt }: Outcome, from: Place, to: Place, note: (line: string) => void): void {
  for (const name of repeated.slice(0, mostNames))
    note(`${name} had been delivered before: an earlier move may have left it in the target, too`);
  for (const name of inDoubt.slice(0, mostNames)) note(`${name} is in the source, and perhaps in the target, too`);
  const [more, further] = [repeated.length - mostNames, inDoubt.length - mostNames];
  if (more > 0) note(`${more} more messages had been delivered before`);
  if (further > 0) note(`${further} more messages are perhaps in both`);
  note(`${moved} moved from ${shownPlace(from)} to ${shownPlace(to)}`);
}

/** @throws Refusal */
function optionsOf({ limit, rate, stripDeaths }: MoveFlags): MoveOptions {
  if (limit !== undefined && !/^[0-9]{1,15}$/.test(limit))
    throw new Refusal(`--limit must be a whole number of messages, but is '${limit}'`);
  if (rate !== undefined && !(/^[0-9]{1,9}(\.[0-9]{1,6})?$/.test(rate) && Number(rate) > 0))
    throw new Refusal(`--rate must be a number of messages a second above 0, but is '${rate}'`);
  return {
    stripDeaths: stripDeaths === true,
    ...(limit !== undefined && { limit: Number(limit) }),
    ...(rate !== undefined && { rate: Number(rate) }),
  };
}

const sourceAt = async (place: Place, note: (line: string) => void): Promise<Source> =>
  place.kind === 'directory' ? directorySource(place, note) : (await import('./server.js')).serverSource(place);

const targetAt = async (place: Place, note: (line: string) => void): Promise<Target> =>
  place.kind === 'directory' ? directoryTarget(place, note) : (await import('./server.js')).serverTarget(place, note);
