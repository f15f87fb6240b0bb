/** As RabbitMQ lists what it has. */
export const exchangeTypeRows = ['direct', 'fanout', 'headers', 'topic'].map((name) => ({
  name,
  description: `AMQP ${name} exchange, as per the AMQP specification`,
  enabled: true,
}));
