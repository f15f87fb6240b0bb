import type { Target } from './target.js';
import { w1 } from './workloads/w1-publish-deliver-ack.js';
import { w3 } from './workloads/w3-reject-dead-letter.js';
import { w5 } from './workloads/w5-length-limit.js';
import { w6 } from './workloads/w6-topic.js';
import { w7 } from './workloads/w7-fan-out.js';
import { w8 } from './workloads/w8-backlog.js';

// All workloads together for some minutes, with connections and queues that come and go. Then the server is measured.
const { target, minutes } = JSON.parse(process.argv[2] as string) as { target: Target; minutes: number };
const pace = { warm: 1, measured: 9 };
const end = performance.now() + minutes * 60_000;
for (let round = 0; performance.now() < end; round++) {
  const how = { size: round % 2 === 0 ? 16 : 1024, confirm: round % 4 < 2 };
  await Promise.all([
    w1(target, pace, how),
    w3(target, pace, how),
    w5(target, pace, how),
    w6(target, pace, 500),
    w7(target, pace),
    w8(target, 100_000),
  ]);
}
process.exit(0);
