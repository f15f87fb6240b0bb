export * from './field-table.js';
export { compact, hasMoreThan, isEmptyTable, packedLength, PackedTable } from './packed-table.js';
export { ByteReader, Malformed, UnknownFieldType } from './codec/byte-reader.js';
export { ByteWriter } from './codec/byte-writer.js';
export { noBytes } from './codec/no-bytes.js';
export { isPackable } from './codec/packable.js';
export { readTable, readTableBody, writeSortedTable, writeTable } from './codec/table-codec.js';
export { fieldSize, isLargerThan, tableSize } from './codec/table-size.js';
export { basicClass, methodIds } from './codec/method-ids.js';
export { decodeText, encodeText, isShortstr, isUtf8, maxShortstrBytes, textLength } from './codec/text.js';
export * from './message.js';
export * from './death.js';
export {
  deathsOf,
  firstDeathOf,
  isClaimed,
  oldestDeathOf,
  oneMoreDeath,
  recordDeath,
  RecordedDeaths,
} from './deaths.js';
export { ClaimedDeaths } from './claimed-deaths.js';
export * from './notes.js';
export { areSameNotes } from './same-notes.js';
export { readDeaths, stripDeaths, writeDeath } from './x-death.js';
export { isPredeclared, isReserved, reservedPrefix } from './names.js';
export * from './nesting.js';
export * from './properties.js';
export { type PlainProperty, plainProperties, plainPropertyNames, propertiesFromPlain } from './property-names.js';
export * from './plain.js';
export { Repeated, RepeatedField } from './repeated.js';
export * from './stored.js';
