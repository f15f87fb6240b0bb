import { type Names, normalForm } from './normal-form.js';
import type { Line, Script } from './scripts/index.js';
import { client, type Outcome, type Target } from './target.js';

const inRun = (words: readonly string[], { vhost, user }: Names): readonly string[] =>
  words.map((word) =>
    word
      .replace(/^V(?=[a-z]*$)/, vhost)
      .replace(/^U(?=[a-z]*$)/, user)
      .replace(/=V$/, `=${vhost}`),
  );

/** Runs the lines of a script in a virtual host of its own, and makes what they came to comparable. */
export async function play(
  target: Target,
  script: Script,
  names: Names,
  expected?: readonly Outcome[],
): Promise<Outcome[]> {
  const quietly = (words: string): Promise<Outcome> => target.run(words.split(' '));
  await quietly(`add_vhost -q ${names.vhost}`);
  await quietly(`set_permissions -q -p ${names.vhost} guest .* .* .*`);
  const scene = script.scene === undefined ? undefined : await client(target, names.vhost);
  try {
    if (scene !== undefined) {
      await script.scene?.(scene[1]);
      await scene[1].waitForConfirms();
    }
    const end = Date.now() + target.timeout;
    const outcomes: Outcome[] = [];
    for (const [at, line] of script.lines.entries())
      outcomes.push(await outcomeOf(target, line, names, expected?.[at], end));
    return outcomes;
  } finally {
    await scene?.[0].close().catch(() => undefined);
    await quietly(`delete_vhost -q ${names.vhost}`);
  }
}

/** Numbers may come late: until the end of timeout they are asked for again. */
async function outcomeOf(
  target: Target,
  { words, stdin, keep, late }: Line,
  names: Names,
  expected: Outcome | undefined,
  end: number,
): Promise<Outcome> {
  const once = async (): Promise<Outcome> => normalForm(await target.run(inRun(words, names), stdin), names, keep);
  let found = await once();
  while (late === true && expected !== undefined && Date.now() < end && !isSame(found, expected)) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    found = await once();
  }
  return found;
}

const isSame = (one: Outcome, other: Outcome): boolean =>
  one.code === other.code && one.out === other.out && one.errors === other.errors;
