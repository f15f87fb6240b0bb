/*
 * Loaded into a process before all else (`node --import`): while the file named by FAULTS has a word in it, the calls that
 * word stands for fail as those of a bad disk do. `read`: bodies that are read back. `write`: the log.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { readFileSync, readSync, writev } = fs;

const has = (word) => {
  try {
    return readFileSync(process.env.FAULTS, 'utf8').includes(word);
  } catch {
    return false;
  }
};

const eio = (syscall) => Object.assign(new Error(`EIO: i/o error, ${syscall}`), { code: 'EIO', errno: -5, syscall });

fs.readSync = (...args) => {
  if (has('read')) throw eio('read');
  return readSync(...args);
};

fs.writev = (...args) => {
  if (!has('write')) return writev(...args);
  const done = args.at(-1);
  process.nextTick(() => done(eio('write')));
};
// As Node's own: what is promised is an object.
Object.defineProperty(fs.writev, Symbol.for('nodejs.util.promisify.custom'), {
  value: (...args) =>
    new Promise((resolve, reject) => {
      fs.writev(...args, (error, bytesWritten, buffers) =>
        error ? reject(error) : resolve({ bytesWritten, buffers }),
      );
    }),
});
syncBuiltinESMExports();
