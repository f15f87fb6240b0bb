import { Socket, type SocketConstructorOpts } from 'node:net';
import { readBuffer } from '../wire/index.js';

/** A socket with the handle of the system that node keeps in it. The types of node leave it out. */
interface WithHandle {
  _handle?: object | null;
}

/**
 * Makes a socket whose reads come in {@link readBuffer}. Node has this only for sockets that it connects (`onread`), so an accepted
 * socket passes its handle to a new one. The reads are events `data` as usual.
 * @param accepted nothing was read from it: its server has `pauseOnConnect`
 * @returns the new socket; the accepted one if its handle cannot be passed on
 */
export function withCommonReads(accepted: Socket): Socket {
  const { _handle: handle } = accepted as WithHandle;
  if (typeof handle !== 'object' || handle === null) return accepted.resume();
  (accepted as WithHandle)._handle = null;
  accepted.destroy(); // it has no handle any more, so nothing is closed
  const callback = (length: number): boolean => {
    socket.emit('data', readBuffer.subarray(0, length));
    return true;
  };
  const options = { handle, onread: { buffer: readBuffer, callback } };
  const socket = new Socket(options as SocketConstructorOpts);
  return socket;
}
