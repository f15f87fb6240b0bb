import { PageHead } from '../../ui/parts';

/** The page `topology`. */
export default function Page() {
  return <PageHead title="topology" />;
}
