const entries = [
  ['binding', 'binding'],
  ['dead', 'dead letters'],
  ['retry', 'retry loop'],
  ['spin', 'loop without a wait'],
  ['dropped', 'loop that may drop'],
  ['alternate', 'alternate exchange'],
] as const;

/** What the lines of the graph are. */
export function Legend() {
  return (
    <ul class="graph-legend" aria-label="Lines of the graph">
      {entries.map(([look, text]) => (
        <li key={look}>
          <svg width="30" height="10" aria-hidden="true">
            <path class={`edge edge-${look}`} d="M1 5H29" />
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}
