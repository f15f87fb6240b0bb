/** The exit code that shells show for a program that SIGPIPE has ended: 128 and the number of the signal. */
const endedBySigpipe = 141;

/**
 * Ends this process when the reader of its output has ended, such as `head`: without a message, as SIGPIPE ends other programs.
 * A command that handles interrupts gets one, so that it can finish what it has begun.
 */
export function endWithReader(ended: NodeJS.Process): void {
  let isEnding = false;
  const end = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
    if (isEnding) return; // each further write fails as well
    isEnding = true;
    // Set at the end, because the command sets the code of its work before.
    ended.once('exit', () => void (ended.exitCode = endedBySigpipe));
    if (!ended.emit('SIGINT', 'SIGINT')) ended.exit();
  };
  ended.stdout.on('error', end);
  ended.stderr.on('error', end);
}
