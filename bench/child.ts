import { workloads } from './workloads/index.js';

// One workload of one peer, in a process of its own: `node child.js W1 smqp` prints its measurement as JSON.
const [id, peer] = process.argv.slice(2);
const run = workloads.find((workload) => workload.id === id)?.peers[peer ?? ''];
if (run === undefined) throw new Error(`there is no workload '${id}' with a peer '${peer}'`);
process.stdout.write(`${JSON.stringify(await run())}\n`);
process.exit(0);
