import { type FieldTable, emptyTable } from '../../engine/message/index.js';

/** The user, client properties and capabilities of a client. */
export class Client {
  constructor(
    /** As announced: product, version, platform, connection_name ... */
    readonly properties: FieldTable = emptyTable,
    readonly user = '',
    /** How it logged in: `PLAIN`, `AMQPLAIN`. */
    readonly mechanism = '',
  ) {}

  /** The name that the client gave its connection. */
  get connectionName(): string | undefined {
    const name = this.properties.get('connection_name');
    return name?.type === 'S' ? name.value : undefined;
  }

  /** Whether it announced a capability. */
  can(capability: string): boolean {
    const capabilities = this.properties.get('capabilities');
    return capabilities?.type === 'F' && capabilities.value.get(capability)?.value === true;
  }
}
