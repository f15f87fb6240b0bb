export * from './field-table.js';
export {
  compact,
  fieldSize,
  hasMoreThan,
  isEmptyTable,
  isLargerThan,
  isPackable,
  packedLength,
  PackedTable,
  sorted,
  tableSize,
} from './packed-table.js';
export { ByteReader, ByteWriter, Malformed, UnknownFieldType } from './codec/bytes.js';
export {
  compareBytes,
  decodeText,
  encodeText,
  isPredeclared,
  isReserved,
  isShortstr,
  isUtf8,
  maxShortstrBytes,
  noBytes,
  reservedPrefix,
  textLength,
} from './codec/text.js';
export { readTable, readTableBody, writeSortedTable, writeTable } from './codec/table-codec.js';
export { basicClass, methodIds } from './codec/method-ids.js';
export * from './message.js';
export * from './kept-bytes.js';
export * from './death.js';
export {
  areSameNotes,
  ClaimedDeaths,
  deathsOf,
  firstDeathOf,
  isClaimed,
  oldestDeathOf,
  oneMoreDeath,
  recordDeath,
  RecordedDeaths,
} from './deaths.js';
export * from './notes.js';
export { readDeaths, stripDeaths, writeDeath } from './death.js';
export * from './field-table.js';
export * from './properties.js';
export { plainProperties, propertiesFromPlain } from './properties.js';
export * from './plain.js';
export { Repeated, RepeatedField } from './field-table.js';
export * from './message.js';
