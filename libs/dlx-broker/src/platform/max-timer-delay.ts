/** The longest delay of Node's timers, in milliseconds. Node takes a longer delay for 1 ms. */
export const maxTimerDelay = 2_147_483_647;
