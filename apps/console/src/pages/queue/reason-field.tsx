/** The field for the reason of a pause, in a dialog. */
export function ReasonField({ value, onInput }: { value: string; onInput: (reason: string) => void }) {
  return (
    <label class="field">
      <span>Reason</span>
      <input
        autocomplete="off"
        maxLength={500}
        placeholder="optional; shown to users who may read the queue"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
