import type { Setting, SettingValue } from '../../api/types';
import { Name, visible } from '../../ui/parts';
import { settingText, sourceText } from './setting-text';

/** Every setting with the value by which the queue acts and its source. Values that it overrides are struck out below. */
export function Settings({ of }: { of: readonly Setting[] }) {
  const isGiven = ({ source, overridden }: Setting): boolean => source !== 'default' || overridden.length > 0;
  const rows = [...of.filter(isGiven), ...of.filter((setting) => !isGiven(setting))];
  return (
    <div class="table-scroll" role="region" aria-label="Settings" tabIndex={0}>
      <table class="settings-table">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        {rows.map((setting) => (
          <Rows key={setting.key} of={setting} />
        ))}
      </table>
    </div>
  );
}

function Rows({ of: setting }: { of: Setting }) {
  const { key, source, overridden, effect = true } = setting;
  return (
    <tbody class={source === 'default' ? 'setting-default' : undefined}>
      <tr>
        <th scope="rowgroup" rowSpan={1 + overridden.length}>
          <Name of={key} />
        </th>
        <td>
          <Value name={key} of={setting} />
          {!effect && (
            <small title="The broker accepts this key and does not act by it"> has no effect in this broker</small>
          )}
        </td>
        <td>{visible(sourceText(setting))}</td>
      </tr>
      {overridden.map((each, index) => (
        <tr key={index} class="setting-overridden">
          <td>
            <s>
              <span class="visually-hidden">overridden: </span>
              <Value name={key} of={each} />
            </s>
          </td>
          <td>{visible(sourceText(each))}</td>
        </tr>
      ))}
    </tbody>
  );
}

function Value({ name, of }: { name: string; of: SettingValue }) {
  const { text, more } = settingText(name, of.value);
  return (
    <>
      <bdi class={text.length < 18 ? 'mono nowrap' : 'mono'}>{visible(text)}</bdi>
      {more !== undefined && <small> {more}</small>}
    </>
  );
}
