import { type AnyRegistry, registerMetrics } from '../server/metrics/index.js';
import type { DlxBroker } from './index.js';

/**
 * Adds the metrics of a broker to the registry of an application, with the numbers of `/metrics`. Handlers are measured from this call
 * on. On a RabbitMQ there are the metrics of the handlers and of the connection only: RabbitMQ has the others itself.
 * @param registry of prom-client 15; the global one is `register`
 * @throws DlxConfigurationError when the broker, a second one of this process, or a metric of such a name is in the registry already
 */
export function registerDlxMetrics(registry: AnyRegistry, broker: DlxBroker): void {
  const { handlers, source } = broker.measure();
  registerMetrics(registry, handlers, source, `registerDlxMetrics: broker '${broker.name}'`);
}
