/**
 * The RabbitMQ with which tests compare this broker. Tests use one only if `AMQP_URL` names it. Its management API is at `RABBITMQ_MANAGEMENT_URL`,
 * by default at port 15672 of the same host.
 */
export const amqpUrl = process.env['AMQP_URL'];
export const managementUrl =
  process.env['RABBITMQ_MANAGEMENT_URL'] ?? `http://${new URL(amqpUrl ?? 'amqp://127.0.0.1').hostname}:15672`;

/** Why cases on a RabbitMQ are skipped when there is no `AMQP_URL`. */
export const notNamed = 'AMQP_URL names no RabbitMQ';
