import { delayedType } from '../../broker/index.js';

interface ExchangeTypeRow {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

const ofAmqp = (name: string): ExchangeTypeRow => ({
  name,
  description: `AMQP ${name} exchange, as per the AMQP specification`,
  enabled: true,
});

/** As RabbitMQ lists what it has, and as its delayed-message plugin describes itself. */
export const exchangeTypeRows: readonly ExchangeTypeRow[] = [
  ...['direct', 'fanout', 'headers', 'topic'].map(ofAmqp),
  { name: delayedType, description: 'Delayed Message Exchange.', enabled: true },
];
