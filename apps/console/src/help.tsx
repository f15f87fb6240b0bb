import { shortcuts } from './keyboard';

/** Keys that are no shortcuts of a page: a row handles them itself while it has the focus. */
const ofRows = [{ key: 'Enter', text: 'Open the row' }];
import { Dialog } from './ui/dialog';

/** The keys that work on this page. */
export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {[...shortcuts(), ...ofRows].map(({ key, text }) => (
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
