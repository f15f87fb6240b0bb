export { BufferPool, type FrameOutput, frameOverhead, frameTypes, FrameWriter, minFrameSize } from './frame/writer.js';
export {
  checkFrame,
  type FrameHolder,
  FrameReader,
  type FrameSink,
  HeaderReader,
  type HeldFrames,
  protocolHeader,
  readBuffer,
} from './frame/reader.js';
export { erlangBinary, frameError, unexpectedFrame, WireError } from './wire-error.js';
export { MethodReader, readTableBody, StrictMethodReader } from './method-reader.js';
export * as methods from './methods/index.js';
export { HeaderWriter } from './properties/header-writer.js';
export {
  bodySizeIn,
  headerPrefix,
  PropertiesReader,
  readTolerantly,
  ReceivedProperties,
  UndecodableProperties,
} from './properties/received.js';
export { writeHeaders, writeProperties } from './properties/header-writer.js';
export { isMostOfBuffer, UnfinishedBody } from './unfinished-body.js';
