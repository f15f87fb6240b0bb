import { type FieldTable, emptyTable } from '../message/index.js';

/** What a client says of itself, and what it can do. */
export class Client {
  constructor(
    /** As announced: product, version, platform, connection_name ... */
    readonly properties: FieldTable = emptyTable,
    readonly user = '',
    /** How it logged in: `PLAIN`, `AMQPLAIN`. */
    readonly mechanism = '',
  ) {}

  /** The name its connection wants to be known by. */
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
