import { Name } from '../ui/parts';

/** Asks whether messages stay as they were, in a queue of their own. */
export function KeepOriginal(props: { queue: string | undefined; value: boolean; change: (keeps: boolean) => void }) {
  const { queue, value, change } = props;
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => change(event.currentTarget.checked)} />
      <span>Keep the original in {queue === undefined ? 'a queue beside each' : <Name of={`${queue}.edited`} />}</span>
    </label>
  );
}
