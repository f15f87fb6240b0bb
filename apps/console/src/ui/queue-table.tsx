import type { ComponentChildren } from 'preact';
import type { Page, QueueRow } from '../api/types';
import { type Column, Pager, Table } from './table';

/**
 * A page of queues and the buttons that turn it.
 * @param props.none is shown when no queue is on any page
 */
export function QueueTable(props: {
  label: string;
  page: Page<QueueRow>;
  columns: readonly Column<QueueRow>[];
  none: ComponentChildren;
}) {
  const { label, page, columns, none } = props;
  if (page.filtered_count === 0) return <>{none}</>;
  return (
    <>
      <Table
        label={label}
        rows={page.items}
        keyOf={({ vhost, name }) => JSON.stringify([vhost, name])}
        columns={columns}
      />
      <Pager
        page={page.page}
        pages={page.page_count}
        filtered={page.filtered_count}
        total={page.total_count}
        what={page.total_count === 1 ? 'queue' : 'queues'}
      />
    </>
  );
}
