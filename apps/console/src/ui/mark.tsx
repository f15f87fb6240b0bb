/** The mark of the project: an envelope. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--dead)" />
      <path
        d="M7 10.5h18V22a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1zm.5.5 8.5 6.5L24.500 11"
        stroke="#fff"
        stroke-width="2"
        stroke-linejoin="round"
      />
    </svg>
  );
}
