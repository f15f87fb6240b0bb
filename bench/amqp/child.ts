import { cases, keyOf } from './cases.js';
import type { Pace } from './measure.js';
import type { Target } from './target.js';

interface Task {
  readonly key: string;
  readonly target: Target;
  readonly pace: Pace;
  /** The name of the other program; undefined for dlx-broker. */
  readonly rival?: string;
}

// One run of one case against one server, in a process of its own; prints the result as JSON.
const { key, target, pace, rival } = JSON.parse(process.argv[2] as string) as Task;
const found = cases.find((one) => keyOf(one) === key);
if (found === undefined) throw new Error(`there is no case '${key}'`);
const own = found.rivals?.find(({ name }) => name === rival)?.run;
process.stdout.write(`${JSON.stringify(await (own ?? found.run)(target, pace))}\n`);
process.exit(0);
