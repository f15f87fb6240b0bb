import { shortcuts } from './keyboard';
import { Dialog } from './ui/dialog';

/** The keys that work on this page. */
export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {shortcuts().map(({ key, text }) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
