/**
 * The RabbitMQ with which tests compare this broker. Tests use one only if `AMQP_URL` names it. Its management API is at `RABBITMQ_MANAGEMENT_URL`,
 * by default at port 15672 of the same host, and its metrics are at port 15692.
 */
export const amqpUrl = process.env['AMQP_URL'];
const { hostname } = new URL(amqpUrl ?? 'amqp://127.0.0.1');
export const managementUrl = process.env['RABBITMQ_MANAGEMENT_URL'] ?? `http://${hostname}:15672`;
/** Its plugin rabbitmq_prometheus. */
export const metricsUrl = `http://${hostname}:15692/metrics`;

/** Why cases on a RabbitMQ are skipped when there is no `AMQP_URL`. */
export const notNamed = 'AMQP_URL names no RabbitMQ';
