/** A text in which names are in `backticks`: they are shown as code. */
export const Prose = ({ of }: { of: string }) => (
  <>{of.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
);
