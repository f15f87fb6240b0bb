export { BufferPool } from './frame/buffer-pool.js';
export { checkFrame } from './frame/check.js';
export {
  erlangBinary,
  type FrameHolder,
  FrameReader,
  type FrameSink,
  frameError,
  frameTypes,
  type HeldFrames,
  unexpectedFrame,
} from './frame/reader.js';
export { firstFrameSize, frameOverhead, smallestFrameSize } from './frame/sizes.js';
export { FrameWriter } from './frame/writer.js';
export { readTable, readTableBody } from './field-table.js';
export { MethodReader, StrictMethodReader } from './method-reader.js';
export * as methods from './methods/index.js';
export { HeaderWriter } from './properties/header-writer.js';
export { bodySizeIn, headerPrefix, PropertiesReader, ReceivedProperties } from './properties/received.js';
export { readTolerantly, UndecodableProperties } from './properties/tolerant.js';
export { writeProperties } from './properties/write-properties.js';
export { HeaderReader, protocolHeader } from './protocol-header.js';
export { isMost, UnfinishedBody } from './unfinished-body.js';
export { WireError } from './wire-error.js';
