import { workloads } from './workloads/index.js';

// One run of one peer of a workload, in a process of its own: `node child.js W1 smqp` prints its measurement as JSON. The processor
// time of one operation, or else of the whole run, is added to it, in microseconds.
const [id, peer] = process.argv.slice(2);
const run = workloads.find((workload) => workload.id === id)?.peers[peer ?? ''];
if (run === undefined) throw new Error(`there is no workload '${id}' with a peer '${peer}'`);
const before = process.cpuUsage();
const measurement = await run();
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${JSON.stringify({ cpu: user + system, ...measurement })}\n`);
process.exit(0);
