/** The longest delay of Node's timers, in milliseconds. A longer one would be taken for 1. */
export const longestTimer = 2_147_483_647;
