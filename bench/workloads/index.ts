import type { Workload } from '../workload.js';
import { overAmqp } from './over-amqp.js';
import { w10 } from './w10-nest-retries.js';
import { w11 } from './w11-start.js';
import { w1OneInFlight } from './w1-one-in-flight.js';
import { w1 } from './w1-publish-deliver-ack.js';
import { w3 } from './w3-reject-dead-letter.js';
import { w4Burst } from './w4-burst.js';
import { w4Delayed } from './w4-delayed.js';
import { w4Expirations } from './w4-expirations.js';
import { w4 } from './w4-expiry.js';
import { w5 } from './w5-length-limit.js';
import { w6 } from './w6-topic.js';
import { w7 } from './w7-fan-out.js';
import { w8 } from './w8-backlog.js';
import { w8Durable } from './w8-durable-backlog.js';
import { w9 } from './w9-nest.js';
import { w9Retry } from './w9-retry.js';

/** All workloads, in the order of the table. */
export const workloads: readonly Workload[] = [
  w1,
  w1OneInFlight,
  w3,
  w4,
  w4Expirations,
  w4Burst,
  w4Delayed,
  w5,
  w6,
  w7,
  w8,
  w8Durable,
  ...w9,
  w9Retry,
  ...w10,
  ...w11,
  ...overAmqp,
];
