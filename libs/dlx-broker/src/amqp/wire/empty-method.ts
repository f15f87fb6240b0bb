import type { FrameWriter } from './frame/writer.js';
import type { MethodReader } from './method-reader.js';

/** Reads a method without arguments. */
export const readNoArguments = (from: MethodReader): void => from.finish();

/** @param id class and method in one number @returns a function that writes this method, which has no arguments */
export const emptyWriter =
  (id: number) =>
  (to: FrameWriter, channel: number): void => {
    to.method(channel, id);
    to.end();
  };
