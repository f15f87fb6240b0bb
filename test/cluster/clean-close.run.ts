import { afterAll } from 'vitest';
import { whyNoCluster } from './installation.js';
import { ClusterNodes } from './nodes.js';

// The cases of test/backends/clean-close.spec.ts, with three nodes and quorum queues in place of the one server.
const reason = whyNoCluster();
if (reason !== undefined) console.warn(`SKIPPED, NOTHING WAS TESTED: ${reason}`);
else {
  const cluster = await ClusterNodes.start();
  afterAll(() => cluster.stop(), 60_000);
  process.env['AMQP_URL'] = (await cluster.urls())[1];
  process.env['RABBITMQ_MANAGEMENT_URL'] = cluster.managementUrl;
  process.env['DEFAULT_QUEUE_TYPE'] = 'quorum';
}
await import('../backends/clean-close.spec.js');
