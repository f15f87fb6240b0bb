/** Sizes of text and boxes in pixels at a scale of 1. */
export const sizes = {
  character: 7.25,
  label: 6.1,
  badge: 46,
  type: 6.2,
  height: 32,
  most: 26,
  line: 13,
} as const;
