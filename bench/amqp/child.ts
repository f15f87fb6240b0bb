import { cases, keyOf } from './cases.js';
import type { Pace } from './measure.js';
import type { Target } from './target.js';

// One run of one case against one server, in a process of its own; prints the result as JSON.
const { key, target, pace } = JSON.parse(process.argv[2] as string) as { key: string; target: Target; pace: Pace };
const found = cases.find((one) => keyOf(one) === key);
if (found === undefined) throw new Error(`there is no case '${key}'`);
process.stdout.write(`${JSON.stringify(await found.run(target, pace))}\n`);
process.exit(0);
