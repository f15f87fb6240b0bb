import { exchangeTypeDescriptions } from '../../../broker/index.js';

interface ExchangeTypeRow {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

/** As RabbitMQ lists what it has, and as its delayed-message plugin describes itself: by name. */
export const exchangeTypeRows: readonly ExchangeTypeRow[] = [...exchangeTypeDescriptions]
  .map(([name, description]) => ({ name, description, enabled: true }))
  .sort((one, other) => (one.name < other.name ? -1 : 1));
