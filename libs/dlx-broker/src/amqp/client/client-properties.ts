import { bool, type FieldTable, longstr, table, textAt } from '../../engine/message/index.js';
import type { ServerDescription } from './api.js';
import type { ConnectionOptions } from './options.js';

/** The capabilities of this client. A server sends some methods only to clients that announce the capability. */
const capabilities = [
  'authentication_failure_close',
  'basic.nack',
  'connection.blocked',
  'consumer_cancel_notify',
  'exchange_exchange_bindings',
  'publisher_confirms',
];

/** The client properties of `connection.start-ok`. */
export const clientProperties = ({ name, properties }: ConnectionOptions): FieldTable =>
  new Map([
    ['product', longstr('dlx-broker')],
    ['platform', longstr(`Node.js ${process.versions.node}`)],
    ...(name === undefined ? [] : [['connection_name', longstr(name)] as const]),
    ...(properties ?? []),
    ['capabilities', table(new Map(capabilities.map((capability) => [capability, bool(true)])))],
  ]);

/** Reads the server properties of `connection.start`. */
export function describeServer(properties: FieldTable): ServerDescription {
  const announced = properties.get('capabilities');
  return {
    properties,
    product: textAt(properties, 'product') ?? '',
    version: textAt(properties, 'version') ?? '',
    can: (capability) => announced?.type === 'F' && announced.value.get(capability)?.value === true,
  };
}
