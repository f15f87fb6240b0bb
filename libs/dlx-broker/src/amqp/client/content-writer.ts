import { basicClass, ByteWriter, type Properties } from '../../engine/message/index.js';
import {
  frameTypes,
  type FrameWriter,
  headerPrefix,
  methods,
  UndecodableProperties,
  writeHeaders,
  writeProperties,
} from '../wire/index.js';
import { checkName, checkProperties } from './checks.js';
import { UnsendableError } from './errors.js';

/**
 * Writes the frames of a publish: method, header, body. What came from the wire and was not changed goes out as it came.
 * @param replaced the delivery that the message replaces (rule K14)
 * @throws UnsendableError before anything is written
 */
export function writePublish(
  to: FrameWriter,
  channel: number,
  exchange: string,
  routingKey: string,
  mandatory: boolean,
  replaced: number | undefined,
  properties: Properties,
  body: Uint8Array,
): void {
  checkName('exchange name', exchange);
  checkName('routing key', routingKey);
  const header = encoded(properties, to.maxPayload - headerPrefix);
  if (replaced !== undefined) methods.writeBasicReplace(to, channel, replaced);
  methods.writeBasicPublish(to, channel, exchange, routingKey, mandatory, false);
  to.begin(frameTypes.header, channel);
  to.long(basicClass << 16);
  to.longlong(body.length);
  if (header === undefined) writeNow(to, properties);
  else to.raw(header, 0, header.length);
  to.end();
  to.body(channel, body);
}

/** @returns the encoded properties if they exist already or had to be measured; undefined if they certainly fit */
function encoded(properties: Properties, largest: number): Uint8Array | undefined {
  const sent = UndecodableProperties.sentBytesOf(properties) ?? measured(properties, largest);
  if (sent === undefined || sent.length <= largest) return sent;
  throw new UnsendableError(
    `properties of ${sent.length} bytes do not fit into a frame of the server, which takes ${largest}: a content header cannot be split`,
  );
}

function measured(properties: Properties, largest: number): Uint8Array | undefined {
  if (checkProperties(properties) <= largest) return undefined;
  const writer = new ByteWriter(Buffer.allocUnsafe(largest));
  writeNow(writer, properties);
  return writer.written;
}

function writeNow(to: ByteWriter, properties: Properties): void {
  const { headers } = properties;
  writeProperties(to, properties, properties.expiration, headers && (() => writeHeaders(to, headers)));
}
