import { type Exchange, exchangeTypeDescriptions } from '../../../engine/broker/index.js';
import { happened, type Measures } from '../../statistics/measures.js';
import { exchangeSeries } from '../../statistics/series.js';
import type { Columns } from '../lists.js';
import { tableToJson } from '../field-json.js';
import { unknownUser } from './client-columns.js';

export const exchangeColumns = (measures: Measures): Columns<PlacedExchange> => ({
  ...declaredExchangeColumns,
  message_stats: ({ exchange }) => happened(measures.of(exchange, exchangeSeries), [['publish_in'], ['publish_out']]),
});

/** An exchange and its virtual host. */
export interface PlacedExchange {
  readonly exchange: Exchange;
  readonly vhost: string;
}

/** The columns of an exchange without statistics. */
export const declaredExchangeColumns: Columns<PlacedExchange> = {
  arguments: ({ exchange }) => tableToJson(exchange.declared.arguments),
  auto_delete: ({ exchange }) => exchange.declared.autoDelete,
  durable: ({ exchange }) => exchange.declared.durable,
  internal: ({ exchange }) => exchange.declared.internal,
  // Only delayed exchanges have this column, as with RabbitMQ's delayed-message plugin.
  messages_delayed: ({ exchange }) => exchange.delayed?.count,
  name: ({ exchange }) => exchange.name,
  policy: ({ exchange }) => exchange.policy,
  type: ({ exchange }) => exchange.declared.type,
  user_who_performed_action: () => unknownUser,
  vhost: ({ vhost }) => vhost,
};

/**
 * The columns of a single exchange. The lists of channels that publish to it are empty, because rates by channel are
 * not RabbitMQ's default.
 */
export const singleExchangeColumns = (measures: Measures): Columns<PlacedExchange> => ({
  ...exchangeColumns(measures),
  incoming: () => [],
  outgoing: () => [],
});

interface ExchangeTypeRow {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

/** The exchange types by name, with the descriptions of RabbitMQ and of its delayed-message plugin. */
export const exchangeTypeRows: readonly ExchangeTypeRow[] = [...exchangeTypeDescriptions]
  .map(([name, description]) => ({ name, description, enabled: true }))
  .sort((one, other) => (one.name < other.name ? -1 : 1));
