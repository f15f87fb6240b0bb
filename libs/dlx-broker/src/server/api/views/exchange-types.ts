import { exchangeTypeDescriptions } from '../../../engine/broker/index.js';

interface ExchangeTypeRow {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

/** The exchange types by name, with the descriptions of RabbitMQ and of its delayed-message plugin. */
export const exchangeTypeRows: readonly ExchangeTypeRow[] = [...exchangeTypeDescriptions]
  .map(([name, description]) => ({ name, description, enabled: true }))
  .sort((one, other) => (one.name < other.name ? -1 : 1));
